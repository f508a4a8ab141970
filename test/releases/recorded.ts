/** A small installation of an earlier version, as `record.ts` wrote it. */
import type { SchemaFile } from '../../sql/migrate.ts'

export interface RecordedRelease {
  version: string
  /** The files of the schema, in the order in which they ran. */
  schema: SchemaFile[]
  /** The rows of each table, as JSON. */
  rows: Record<string, string[]>
  /** `DATA_DIR/secret-key` */
  secretKey: string
  /** `DATA_DIR/files`: contents in base64, by path. */
  files: Record<string, string>
  /** What a later version has to find. */
  known: {
    /** Of the account that owns everything. */
    token: string
    boardId: string
    cards: { id: string; title: string }[]
    imageKey: string
    /** In base64. */
    image: string
    webhookId: string
    webhookSecret: string
  }
}
