/**
 * The provider's storage adapter, in PostgreSQL. Codes and tokens are bearer credentials, so their values are never
 * stored: the key of a row is the value's hash, and its payload is encrypted. A value for one use is consumed once, even
 * by two requests at the same moment.
 *
 * The provider takes the time from the clock of its machine. In the database its times are those of the service's clock,
 * which all processes share.
 */
import { createHash } from 'node:crypto'
import { errors, type Adapter, type AdapterPayload } from 'oidc-provider'
import type { Clock } from '../../platform/clock.ts'
import { DecryptionError, type Encryption } from '../../platform/secrets/encryption.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import {
  consumeArtifact,
  deleteArtifact,
  findArtifact,
  saveArtifact,
  type Artifact,
} from '../../sql/oauth/oauth-artifacts.ts'
import { clientUsed, deleteClient, findClient, saveClient } from '../../sql/oauth/oauth-clients.ts'
import { endGrant, findGrant, saveGrant, useGrant } from '../../sql/oauth/oauth-grants.ts'
import { revokeAccessToken, saveAccessToken, type Scope } from '../../sql/accounts/tokens.ts'
import { knownScopes } from './scopes.ts'

export interface Store {
  database: Pick<Database, 'asSystem'>
  encryption: Encryption
  clock: Clock
}

/** Seconds by which the service's clock is ahead of this machine's. */
const ahead = ({ clock }: Store) => Math.round((clock.now() - Date.now()) / 1000)

/** Moves the times of the provider's record: when it was issued, first issued, and when it expires. */
function moved(payload: AdapterPayload, seconds: number): AdapterPayload {
  const times = ['iat', 'iiat', 'exp'] as const
  const given = times.filter((name) => typeof payload[name] === 'number')
  return {
    ...payload,
    ...Object.fromEntries(given.map((name) => [name, (payload[name] as number) + seconds])),
  }
}

export const grantKey = (grantId: string): Buffer => keyOf('Grant', grantId)

const keyOf = (kind: string, id: string) => createHash('sha256').update(`${kind}\0${id}`).digest()

/** @param kind the provider's name for the type of its records, such as `AccessToken` */
export function openAdapter(kind: string, store: Store): Adapter {
  switch (kind) {
    case 'Client':
      return clients(store)
    case 'Grant':
      return grants(store)
    case 'Session':
      return sessions
    default:
      return artifacts(kind, store)
  }
}

const never = (): Promise<never> => Promise.reject(new Error('not supported'))

/** Methods that the provider calls only for features that are switched off. */
const others: Adapter = {
  upsert: never,
  find: never,
  findByUserCode: never,
  findByUid: never,
  consume: never,
  destroy: never,
  revokeByGrantId: never,
}

/** The provider stores no sessions. At each consent the service's own session says who is signed in. */
const sessions: Adapter = {
  ...others,
  upsert: async () => undefined,
  find: async () => undefined,
  destroy: async () => undefined,
}

function clients({ database, encryption }: Store): Adapter {
  return {
    ...others,
    async upsert(id, payload) {
      const metadata = encryption.seal(JSON.stringify(payload), `Client ${id}`)
      await database.asSystem((tx) => saveClient(tx, { id, metadata }))
    },
    async find(id) {
      if (!/^[\w-]{1,100}$/.test(id)) return undefined
      const metadata = await database.asSystem((tx) => findClient(tx, id))
      return metadata ? open(encryption, `Client ${id}`, metadata) : undefined
    },
    destroy: (id) => database.asSystem((tx) => deleteClient(tx, id)),
  }
}

function grants(store: Store): Adapter {
  const { database, encryption } = store
  return {
    ...others,
    async upsert(id, payload) {
      const key = grantKey(id)
      const granted = Object.values(payload.resources ?? {}).join(' ')
      await database.asSystem(async (tx) => {
        await saveGrant(tx, {
          key,
          payload: seal(encryption, key, moved(payload, ahead(store))),
          userId: payload.accountId!,
          clientId: payload.clientId!,
          scopes: knownScopes(granted),
        })
        await clientUsed(tx, payload.clientId!)
      })
    },
    async find(id) {
      const key = grantKey(id)
      const payload = await database.asSystem((tx) => findGrant(tx, key))
      const opened = payload && open(encryption, about(key), payload)
      return opened ? { ...moved(opened, -ahead(store)), jti: id } : undefined
    },
    destroy: (id) => database.asSystem((tx) => endGrant(tx, grantKey(id))),
  }
}

function artifacts(kind: string, store: Store): Adapter {
  const { database, encryption } = store
  return {
    ...others,
    async upsert(id, payload, expiresIn) {
      const key = keyOf(kind, id)
      const artifact = {
        kind,
        key,
        payload: seal(encryption, key, moved(payload, ahead(store))),
        lastsSeconds: expiresIn ?? null,
      }
      const { grantId } = payload
      const saved = await database.asSystem(async (tx) => {
        if (grantId === undefined || kind === 'Interaction') {
          await saveArtifact(tx, { ...artifact, grantId: null })
          return true
        }
        return issue(tx, id, payload, artifact)
      })
      if (!saved) throw new errors.InvalidGrant('grant not found')
    },
    async find(id) {
      const key = keyOf(kind, id)
      const found = await database.asSystem((tx) => findArtifact(tx, kind, key))
      const opened = found && open(encryption, about(key), found.payload)
      if (!opened) return undefined
      const payload = { ...moved(opened, -ahead(store)), jti: id }
      return found.consumedAt
        ? { ...payload, consumed: Math.floor(found.consumedAt.getTime() / 1000) }
        : payload
    },
    async consume(id) {
      const key = keyOf(kind, id)
      const first = await database.asSystem((tx) => consumeArtifact(tx, kind, key))
      if (first) return
      // A second use: one of the two users has stolen the value. So the grant ends.
      const found = await database.asSystem((tx) => findArtifact(tx, kind, key))
      const grantId = found && open(encryption, about(key), found.payload)?.grantId
      if (grantId) await database.asSystem((tx) => endGrant(tx, grantKey(grantId)))
      throw new errors.InvalidGrant('already used')
    },
    async destroy(id) {
      await database.asSystem(async (tx) => {
        if (kind === 'AccessToken') await revokeAccessToken(tx, id)
        await deleteArtifact(tx, kind, keyOf(kind, id))
      })
    },
    revokeByGrantId: (grantId) => database.asSystem((tx) => endGrant(tx, grantKey(grantId))),
  }
}

/** Saves a code or token of a grant. False: the grant has ended, nothing was saved. */
async function issue(
  tx: Transaction,
  value: string,
  payload: AdapterPayload,
  artifact: Omit<Artifact, 'grantId'>,
): Promise<boolean> {
  const lastsSeconds = artifact.lastsSeconds ?? 0
  const grant = await useGrant(tx, grantKey(payload.grantId!), lastsSeconds)
  if (!grant) return false
  await saveArtifact(tx, { ...artifact, grantId: grant.id })
  if (artifact.kind !== 'AccessToken') return true
  const scopes: Scope[] = knownScopes(payload.scope ?? '')
  await saveAccessToken(tx, {
    ...{ value, grantId: grant.id, userId: payload.accountId!, name: grant.clientName, scopes },
    lastsSeconds,
  })
  await clientUsed(tx, payload.clientId!)
  return true
}

/** Encrypts the payload without the credential itself, which the provider puts into `jti`. */
function seal(encryption: Encryption, key: Buffer, payload: AdapterPayload): Buffer {
  return encryption.seal(JSON.stringify({ ...payload, jti: undefined }), about(key))
}

const about = (key: Buffer) => key.toString('hex')

/** Undefined when the payload was sealed with another SECRET_KEY: the client must register or ask for consent again. */
function open(encryption: Encryption, belongsTo: string, sealed: Buffer): AdapterPayload | undefined {
  try {
    return JSON.parse(encryption.open(sealed, belongsTo)) as AdapterPayload
  } catch (error) {
    if (error instanceof DecryptionError) return undefined
    throw error
  }
}
