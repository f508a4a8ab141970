/**
 * The secret key encrypts the secrets that the service must decrypt again. With the embedded database the first start
 * makes the key and stores it in DATA_DIR. With an external database SECRET_KEY must be set: DATA_DIR may be lost with
 * the machine, and other processes need the same key.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DecryptionError, openEncryption, type SecretKeys } from '../platform/secrets/encryption.ts'
import type { Database } from '../sql/database.ts'
import { findCanary, findSealedSecret, saveCanary } from '../sql/secret-canary.ts'
import { ConfigError, type Config } from './config.ts'

const minLength = 32

/** @throws ConfigError when SECRET_KEY is required but not set, or when the key file is damaged */
export async function resolveSecretKey(config: Config): Promise<string> {
  if (config.secretKey) return config.secretKey
  if (config.databaseUrl) {
    throw new ConfigError(
      `SECRET_KEY must be set when DATABASE_URL is set. Use at least ${minLength} characters, the same at every start.`,
    )
  }
  await mkdir(config.dataDir, { recursive: true })
  const file = join(config.dataDir, 'secret-key')
  const key = (await readKey(file)) ?? (await makeKey(file))
  if (key.length < minLength) {
    throw new ConfigError(
      `${file} is damaged: a key has at least ${minLength} characters. Restore the file, or set SECRET_KEY.`,
    )
  }
  return key
}

/**
 * Checks that the keys are those of this database, by decrypting the canary. The first start with a database stores the
 * canary, a known text that is encrypted with the key. A rotation encrypts it with the new key when everything else is.
 *
 * @throws ConfigError when the database's secrets were encrypted with another key
 */
export async function checkSecretKey(
  database: Database,
  secretKeys: SecretKeys,
  warn: (line: string) => void = () => undefined,
): Promise<void> {
  const canaries = openEncryption(secretKeys, 'canary')
  try {
    const sealed = await database.asSystem(async (tx) => {
      const known = await findCanary(tx)
      if (known) return known
      // The database may have secrets but no canary yet. Then check the key with one of its secrets.
      const secret = await findSealedSecret(tx)
      if (secret) openEncryption(secretKeys, 'webhook secrets').open(secret.sealed, secret.webhookId)
      return saveCanary(tx, canaries.seal(canaryText, canaryText))
    })
    canaries.open(sealed, canaryText)
    if (!canaries.isCurrent(sealed))
      warn(
        'Secrets of this database are still encrypted with SECRET_KEY_PREVIOUS. Run `corkboard secret rotate` before you remove it.',
      )
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    throw new ConfigError(
      'The secrets of this database were encrypted with another SECRET_KEY. Set the earlier key again, or restore DATA_DIR/secret-key. During a rotation set it as SECRET_KEY_PREVIOUS.',
      { cause: error },
    )
  }
}

/** Returns the existing key, or null. Never makes a key. */
export async function findSecretKey(config: Config): Promise<string | null> {
  return config.secretKey || (await readKey(join(config.dataDir, 'secret-key')))
}

/** Whether one of these keys encrypted the canary. */
export function haveEncrypted(secretKeys: SecretKeys, canary: Uint8Array): boolean {
  try {
    return openEncryption(secretKeys, 'canary').open(canary, canaryText) === canaryText
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}

/** The text of the canary, also what its encryption is about. */
export const canaryText = 'secret canary'

async function readKey(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Writes the key file atomically and returns its key. If two processes do so at the same moment, both use the first
 * key.
 */
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
