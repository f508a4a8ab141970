/** The file store, for commands. */
import { systemClock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import type { Database } from '../../sql/database.ts'
import type { FileParts } from '../../workers/upkeep/end-uploads.ts'
import { readConfig } from '../config.ts'
import { describeFault } from '../describe-fault.ts'
import { resolveSecretKey } from '../secret-key.ts'
import { openStorage } from '../storage.ts'

export async function openFiles(): Promise<ObjectStore> {
  const config = readConfig(process.env)
  const secretKey = await resolveSecretKey(config)
  const log = { warn: () => undefined } // the only warning concerns multipart uploads, which a command never takes
  return openStorage({ ...config, secretKey }, { clock: systemClock, publicUrl: () => '', log }).store
}

/** What it takes to delete files. Warnings go to standard error. */
export async function fileParts(database: Database): Promise<FileParts> {
  const files = await openFiles()
  await files.check()
  return { database, files, clock: systemClock, log }
}

const warn = (fields: { err?: unknown }, message: string) =>
  void process.stderr.write(`corkboard: ${message}. ${describeFault(fields.err)}\n`)
const log: Logger = { info: () => undefined, debug: () => undefined, warn, error: warn }
