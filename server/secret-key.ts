/**
 * The key for what the service must be able to read back. With the embedded database it is made at the first start
 * and kept beside the data that it belongs to; with an external one it has to be given, since the folder may not
 * outlast the machine, and other processes need the same key.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DecryptionError, openEncryption } from '../platform/secrets/encryption.ts'
import type { Database } from '../sql/database.ts'
import { findCanary, findSealedSecret, saveCanary } from '../sql/secret-canary.ts'
import { ConfigError, type Config } from './config.ts'

const minLength = 32

/** @throws ConfigError when it is needed and not set, or when its file holds something else */
export async function resolveSecretKey(config: Config): Promise<string> {
  if (config.secretKey) return config.secretKey
  if (config.databaseUrl) {
    throw new ConfigError(
      'SECRET_KEY must be set when DATABASE_URL is: at least 32 characters, the same at every start.',
    )
  }
  await mkdir(config.dataDir, { recursive: true })
  const file = join(config.dataDir, 'secret-key')
  const key = (await readKey(file)) ?? (await makeKey(file))
  if (key.length < minLength) {
    throw new ConfigError(`${file} does not hold a key any more: restore it, or set SECRET_KEY.`)
  }
  return key
}

/**
 * Opens the database's canary, which the first start with this database makes.
 *
 * @throws ConfigError when the database's secrets were encrypted with another key
 */
export async function checkSecretKey(database: Database, secretKey: string): Promise<void> {
  const canaries = openEncryption(secretKey, 'canary')
  try {
    await database.asSystem(async (tx) => {
      const known = await findCanary(tx)
      if (!known) {
        // The database may be older than canaries.
        const secret = await findSealedSecret(tx)
        if (secret) openEncryption(secretKey, 'webhook secrets').open(secret.sealed, secret.webhookId)
      }
      canaries.open(known ?? (await saveCanary(tx, canaries.seal(canaryText, canaryText))), canaryText)
    })
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    throw new ConfigError(
      "SECRET_KEY is not the key that this database's secrets were encrypted with: set the earlier key again, or restore DATA_DIR/secret-key.",
      { cause: error },
    )
  }
}

const canaryText = 'secret canary'

async function readKey(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whole or not at all; of two processes that make one at the same moment both take the first. */
async function makeKey(file: string): Promise<string> {
  const draft = `${file}.${randomUUID()}.new`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await handle.sync()
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await handle.close()
    await rm(draft, { force: true })
  }
  return (await readFile(file, 'utf8')).trim()
}
