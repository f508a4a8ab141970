import { json, text } from 'node:stream/consumers'
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readArchive } from '../../platform/archive/read-archive.ts'
import { checkSchema } from '../../sql/archive/load.ts'
import { ConfigError, secretKeysOf, type Config } from '../config.ts'
import { findSecretKey, haveEncrypted } from '../secret-key.ts'
import { archiveFormat, type ArchiveHeader, type FileReport, type Stages } from './format.ts'

export interface CheckedArchive {
  header: ArchiveHeader
  /** Null when the archive is without files. */
  files: FileReport | null
  /** Size of the archive. */
  fileBytes: number
}

/**
 * Reads the header, and checks what can be known by it: the format, the schema, the secret key.
 *
 * @returns the header, and the secret key for new secrets @throws Error with one line for the operator
 */
export async function openArchive(
  path: string,
  config: Config,
): Promise<{ header: ArchiveHeader; secretKey: string }> {
  const header = await readHeader(path)
  if (header.format > archiveFormat)
    throw new Error('A newer version of Corkboard made this archive. Restore it with that version.')
  await checkSchema(header)
  const secretKey = await findSecretKey(config)
  if (secretKey === null)
    throw new ConfigError(
      `The archive's secrets are encrypted. Set SECRET_KEY to the key of the service that was backed up, or copy its DATA_DIR/secret-key to ${config.dataDir}.`,
    )
  const secretKeys = secretKeysOf({ ...config, secretKey })
  if (header.canary !== null && !haveEncrypted(secretKeys, Buffer.from(header.canary, 'base64')))
    throw new ConfigError(
      'The archive was made with another SECRET_KEY. Set SECRET_KEY to the key of the service that was backed up, or copy its DATA_DIR/secret-key. If that key was replaced since, set it as SECRET_KEY_PREVIOUS.',
    )
  return { header, secretKey }
}

async function readHeader(path: string): Promise<ArchiveHeader> {
  for await (const { name, body } of readArchive(path)) {
    if (name !== 'header.json') break
    return (await json(body)) as ArchiveHeader
  }
  throw new Error(`${path} is not an archive that \`corkboard backup\` made.`)
}

/** Reads the whole archive, and checks all of its sums. @throws ArchiveError */
export async function checkArchive(
  path: string,
  header: ArchiveHeader,
  stages: Stages,
): Promise<CheckedArchive> {
  const { size } = await stat(path)
  stages.begin('MB checked', size / 1e6)
  let files: FileReport | null = null
  for await (const { name, body } of readArchive(path, (read) => stages.step(read / 1e6)))
    if (name === 'files.json') files = JSON.parse(await text(body)) as FileReport
  return { header, files, fileBytes: size }
}

/** Room for an embedded database: its tables by the size that they had, its log of writes, its own catalogs. */
const embeddedBytes = (tables: number) => tables + Math.min(tables, 1e9) + 1e8

/** Checks that the disk of DATA_DIR has room for what is restored there: the embedded database, and files in a folder. */
export async function checkRoom({ header, files }: CheckedArchive, config: Config): Promise<void> {
  const database = config.databaseUrl ? 0 : embeddedBytes(header.databaseBytes)
  const needed = database + (config.storage.kind === 'disk' ? (files?.bytes ?? 0) : 0)
  const { bavail, bsize } = await statfs(await existingFolder(config.dataDir))
  const mb = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`
  if (needed > bavail * bsize)
    throw new Error(
      `The disk of ${config.dataDir} has ${mb(bavail * bsize)} free, and the restore needs ${mb(needed)}. Make room, or set DATA_DIR to a larger disk.`,
    )
}

/** The folder, or the nearest one above it that exists. */
async function existingFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found || dirname(path) === path ? path : existingFolder(dirname(path))
}
