/**
 * Which code works with which schema. During a rolling upgrade, nodes of two versions share a database. The newer one
 * migrates it at its start, and the older one goes on working.
 *
 * The version of a schema, and of code, is the number of its newest migration. A migration says in a line of its own
 * which code still works with the schema that it makes:
 *
 *     -- Works with: 0009
 *
 * This means code whose newest migration is 0009 or a later one. Without the line, or with `-- Works with no older
 * code`, it is the migration's own number, so older code stops. `schema_files` keeps the number, because older code does not have the file.
 */

/** A row of `schema_files`. */
export interface AppliedFile {
  name: string
  checksum: string
  /** Number of the oldest code that works with this migration. Null for other files, and for migrations without the line. */
  works_with?: number | null
}

/** A file of this code. */
interface OwnFile {
  name: string
  checksum: string
}

export const isMigration = ({ name }: { name: string }): boolean => name.startsWith('migrations/')

const numberOf = ({ name }: { name: string }) => Number(/^migrations\/(\d+)/.exec(name)?.[1] ?? 0)

const newest = (files: { name: string }[]) => Math.max(0, ...files.filter(isMigration).map(numberOf))

/** Returns what a migration says of older code. */
export function worksWith(text: string): number | null {
  const line = /^-- Works with: (\d{4})$/m.exec(text)
  return line ? Number(line[1]) : null
}

/** Returns the number that code has to have for a schema with these files. */
const oldestCode = (applied: AppliedFile[]) =>
  Math.max(0, ...applied.filter(isMigration).map((row) => row.works_with ?? numberOf(row)))

/**
 * Compares a schema with this code. `pending`: migrations of this code are missing, or differ. `newer`: the schema is
 * newer, and this code works with it. `too new`: it does not.
 */
export function compareSchema(
  own: OwnFile[],
  applied: AppliedFile[],
): 'same' | 'pending' | 'newer' | 'too new' {
  if (newest(own) < oldestCode(applied)) return 'too new'
  if (unlike(own, applied).some(isMigration)) return 'pending'
  return newest(applied) > newest(own) ? 'newer' : 'same'
}

/** Returns the files of this code that the schema lacks, or has with another text. */
export function unlike<File extends OwnFile>(own: File[], applied: AppliedFile[]): File[] {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  return own.filter(({ name, checksum }) => checksums.get(name) !== checksum)
}

/** Returns the name of the newest migration among these files, such as `0010-nodes`. */
export const newestMigration = (files: { name: string }[]): string | null =>
  files
    .filter(isMigration)
    .map(({ name }) => name.replace(/^migrations\/|\.sql$/g, ''))
    .sort()
    .at(-1) ?? null

/** Returns the migrations that this code does not have, in order. */
export const unknownMigrations = (own: OwnFile[], applied: AppliedFile[]): string[] =>
  applied
    .filter((row) => isMigration(row) && !own.some(({ name }) => name === row.name))
    .map(({ name }) => name)
    .sort()
