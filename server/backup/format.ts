/**
 * What an archive of `corkboard backup` holds:
 *
 *   header.json              what it was made from (ArchiveHeader)
 *   tables/<table>/<number>  rows in COPY's text format, in parts of about 4 MB
 *   files/<key>              the bytes of a file, unless the archive is without files
 *   files.json               what became of the files (FileReport)
 *
 * Pictures that the service made smaller are left out: it makes them again.
 */
import type { DatabaseHead } from '../../sql/archive/dump.ts'

export const archiveFormat = 1

export interface ArchiveHeader extends DatabaseHead {
  format: number
  /** Whether the archive has the bytes of files. */
  withFiles: boolean
}

export interface FileReport {
  count: number
  bytes: number
  /** Keys whose bytes the store did not have, although the database has the file. */
  missing: string[]
  /** Keys of files that were reclaimed while the backup ran: nothing had referred to them for 30 days. */
  reclaimed: string[]
}

/** How progress is told. */
export interface Stages {
  /** Starts a stage, and ends the one before. */
  begin(unit: string, total: number): void
  step(count: number): void
}
