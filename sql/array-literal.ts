/**
 * Formats ids, numbers or timestamps as a PostgreSQL array, for `${…}::text::uuid[]` and similar casts. This saves the
 * time in which the driver would search each element for characters to escape. Text needs escaping: don't pass it here.
 */
export const arrayLiteral = (plain: readonly (string | number)[]): string => `{${plain.join(',')}}`
