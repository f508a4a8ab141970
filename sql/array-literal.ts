/**
 * An array of ids, numbers or timestamps as PostgreSQL reads it, for `${…}::text::uuid[]` and the like: the driver would
 * look through each element for what has to be escaped. Not for text.
 */
export const arrayLiteral = (plain: readonly (string | number)[]): string => `{${plain.join(',')}}`
