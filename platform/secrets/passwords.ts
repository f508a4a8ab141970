/**
 * Hashes passwords with argon2id (RFC 9106), in the PHC string format. Each hash contains its parameters. So they can
 * be raised, and an older hash stays valid until its next use. Hashing runs in other threads, few at a time, because
 * one hash takes 19 MB and a core for tens of milliseconds.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../work/fair-queue.ts'

export interface PasswordCost {
  memoryKib: number
  passes: number
  parallelism: number
}

export interface PasswordCheck {
  isRight: boolean
  /** The hash has other parameters than new hashes. */
  isOutdated: boolean
}

export interface Passwords {
  /** @throws ServiceError `storage_unavailable` when the queue is full */
  hash(password: string): Promise<string>
  /** Takes the same time when `phc` is null, so that timing does not reveal it. @throws as `hash` */
  check(password: string, phc: string | null): Promise<PasswordCheck>
}

/** The minimum in OWASP's Password Storage Cheat Sheet. */
const defaultCost: PasswordCost = { memoryKib: 19_456, passes: 2, parallelism: 1 }
const saltBytes = 16
const tagBytes = 32
/** libuv has four threads. File access needs the others. */
const atOnce = 2
const mostWaiting = 64

export function openPasswords(cost: PasswordCost = defaultCost): Passwords {
  const queue = new FairQueue({ atOnce, waiting: mostWaiting })

  async function tagOf(password: string, salt: Buffer, by: PasswordCost, tagLength: number): Promise<Buffer> {
    const { memoryKib: memory, passes, parallelism } = by
    const hashed = {
      message: password.normalize('NFKC'),
      nonce: salt,
      memory,
      passes,
      parallelism,
      tagLength,
    }
    try {
      return await queue.run('', () => promisify(argon2)('argon2id', hashed))
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      throw new ServiceError('storage_unavailable', 'Too many users are signing in. Try again shortly.')
    }
  }

  const unknown = { cost, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) }
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      return phcOf(cost, salt, await tagOf(password, salt, cost, tagBytes))
    },
    async check(password, phc) {
      const known = phc === null ? null : parsePhc(phc)
      const { cost: by, salt, tag } = known ?? unknown
      const given = await tagOf(password, salt, by, tag.byteLength)
      const isRight = timingSafeEqual(given, tag) && known !== null
      const isOutdated =
        by.memoryKib !== cost.memoryKib || by.passes !== cost.passes || by.parallelism !== cost.parallelism
      return { isRight, isOutdated }
    },
  }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')

const phcOf = ({ memoryKib, passes, parallelism }: PasswordCost, salt: Buffer, tag: Buffer) =>
  `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`

/** @throws when the text is not an argon2id hash in the PHC format */
function parsePhc(phc: string): { cost: PasswordCost; salt: Buffer; tag: Buffer } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(phc)
  if (!parts) throw new Error('A stored password is not in the format of argon2id.')
  const [, memory, passes, parallelism, salt = '', tag = ''] = parts
  return {
    cost: { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}
