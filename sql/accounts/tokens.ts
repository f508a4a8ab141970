/**
 * Access tokens. A token has a prefix by which it is recognized, 256 random bits, and a checksum that reveals typing
 * errors. The database stores its SHA-256 hash.
 */
import { hash as hashOf, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { SessionClaims, SessionUser } from '../acting-session.ts'
import { endsTokens, type Database, type Transaction } from '../database.ts'
import { SeenTokens } from './seen-tokens.ts'

export const scopes = ['read', 'write', 'delete'] as const
export type Scope = (typeof scopes)[number]

/** Milliseconds since 1970. */
interface Clock {
  now(): number
}

/** The authenticated account of a request or a socket. */
export interface Principal {
  userId: string
  tokenId: string
  /** Null when the account belongs to a person. */
  serviceAccountId: string | null
  /** For a token of an OAuth application: its grant and its client. All tokens of a grant share one rate limit. */
  grantId: string | null
  clientId: string | null
  email: string
  displayName: string | null
  tier: 'free' | 'pro'
  /** `write` and `delete` imply `read`. */
  scopes: Scope[]
  /** Requests per hour; null uses the configured limit. */
  rateLimit: number | null
  /** For a session that was minted for a user of somebody's product. `tokenId` is then that of the minter's token. */
  session: (SessionUser & { claims: SessionClaims }) | null
  /** For a guest of a link: the link, and the owner of its board, whose limits apply. */
  guest: { linkId: string; ownerId: string; tier: 'free' | 'pro' } | null
}

export const tokenPrefix = 'cork_'
const tokenPattern = /^cork_([A-Za-z0-9_-]{43})([0-9a-z]{7})$/

export function makeToken(): string {
  const secret = randomBytes(32).toString('base64url')
  return `${tokenPrefix}${secret}${checksum(secret)}`
}

/** Returns the hash under which a token is stored; null when the text cannot be a token. */
export function tokenHash(token: string): Buffer | null {
  const [, secret, sum] = tokenPattern.exec(token) ?? []
  if (secret === undefined || sum !== checksum(secret)) return null
  return digest(token)
}

const digest = (token: string): Buffer => hashOf('sha256', token, 'buffer')

function checksum(secret: string): string {
  return crc32(secret).toString(36).padStart(7, '0')
}

export interface NewToken {
  userId: string
  name: string
  scopes: Scope[]
  ttlDays?: number | undefined
  rateLimit?: number | undefined
}

/** @returns the token, which cannot be read again, and its id */
export async function mintToken(
  tx: Transaction,
  token: NewToken,
): Promise<{ token: string; tokenId: string }> {
  const value = makeToken()
  const [row] = await tx<{ id: string }[]>`
    insert into tokens (user_id, name, prefix, hash, scopes, rate_limit, expires_at)
    values (
      ${token.userId}, ${token.name}, ${value.slice(0, 9)}, ${tokenHash(value)}, ${token.scopes}, ${token.rateLimit ?? null},
      now() + ${token.ttlDays ?? null}::integer * interval '1 day'
    )
    returning id`
  return { token: value, tokenId: row!.id }
}

export interface NewAccessToken {
  value: string
  grantId: string
  userId: string
  /** Name of the client. */
  name: string
  scopes: Scope[]
  lastsSeconds: number
}

/** Stores the access token of an OAuth application, under a grant of its user. */
export async function saveAccessToken(tx: Transaction, token: NewAccessToken): Promise<void> {
  await tx`
    insert into tokens (user_id, name, prefix, hash, scopes, expires_at, grant_id)
    values (
      ${token.userId}, ${token.name}, ${token.value.slice(0, 9)}, ${tokenHash(token.value)}, ${token.scopes},
      now() + ${token.lastsSeconds} * interval '1 second', ${token.grantId}
    )`
}

export async function revokeAccessToken(tx: Transaction, value: string): Promise<void> {
  endsTokens(tx)
  await tx`update tokens set revoked_at = now() where hash = ${tokenHash(value)} and revoked_at is null`
}

/** @returns false when the token does not exist or is already revoked */
export async function revokeToken(tx: Transaction, tokenId: string): Promise<boolean> {
  endsTokens(tx)
  const rows =
    await tx`update tokens set revoked_at = now() where id = ${tokenId} and revoked_at is null returning id`
  return rows.length > 0
}

/** The sessions that are minted for users of other products. */
interface Sessions {
  /** @returns the claims of a session's token; null for another text, or when the signature is wrong */
  read(token: string): SessionClaims | null
  /** @returns null when the session has ended */
  find(claims: SessionClaims): Promise<Principal | null>
}

const maxAgeMs = 1000

/**
 * Looks up tokens and caches each result for a second. A look-up for every request would cost a third of the
 * throughput. When a token is revoked, the whole cache is cleared: at once in the process that revokes it, in other
 * processes when the database's notification arrives, and at the latest after the second. So it is when an account is
 * disabled or enabled.
 */
export class TokenVerifier {
  readonly #database: Database
  readonly #clock: Clock
  readonly #sessions: Sessions
  readonly #known = new Map<string, { principal: Promise<Principal | null>; at: number }>()
  readonly #lastUsed = new Map<string, number>()
  readonly #seen = new SeenTokens()

  constructor(options: { database: Database; clock: Clock; sessions: Sessions }) {
    this.#database = options.database
    this.#clock = options.clock
    this.#sessions = options.sessions
    this.#database.onTokensEnded(() => this.forget())
  }

  /** Clears the cache. */
  forget(): void {
    this.#known.clear()
    this.#seen.forgetUnknown()
  }

  /**
   * Returns null for a token or session that is unknown, revoked or expired, or whose account is disabled. Throws
   * `storage_unavailable`.
   *
   * @param mayLookUp called for a token without a success in the last hour. If it returns false, the token counts as
   * unknown
   */
  async verify(token: string, mayLookUp: () => boolean = () => true): Promise<Principal | null> {
    const hash = tokenHash(token)
    const claims = hash ? null : this.#sessions.read(token)
    if (!hash && !claims) return null
    const now = this.#clock.now()
    const key = (hash ?? digest(token)).toString('base64')
    const known = this.#known.get(key)
    if (known && now - known.at < maxAgeMs) return known.principal
    if (this.#seen.isUnknown(key, now) || (!this.#seen.wasValid(key, now) && !mayLookUp())) return null
    if (this.#known.size > 20_000) this.#known.clear()
    const principal = hash ? this.#lookUp(hash) : this.#sessions.find(claims!)
    this.#known.set(key, { principal, at: now })
    try {
      const found = await principal
      if (found) this.#seen.found(key, now)
      else {
        this.#seen.missed(key, now)
        this.#known.delete(key) // invalid tokens must not fill the cache
      }
      return found
    } catch (error) {
      if (this.#known.get(key)?.principal === principal) this.#known.delete(key)
      throw error
    }
  }

  async #lookUp(hash: Buffer): Promise<Principal | null> {
    const [row] = await this.#database.asSystem(
      (tx) => tx<Omit<Principal, 'session'>[]>`
        select t.user_id as "userId", t.id as "tokenId", s.id as "serviceAccountId", t.grant_id as "grantId",
          g.client_id as "clientId", u.email, u.display_name as "displayName", coalesce(payer.tier, u.tier) as tier, t.scopes, t.rate_limit as "rateLimit", (
            select json_build_object('linkId', x.link_id, 'ownerId', o.id, 'tier', o.tier)
            from guests x
            join board_links l on l.id = x.link_id
            join boards b on b.id = l.board_id
            join workspaces w on w.id = b.workspace_id
            join users o on o.id = w.owner_id
            where x.id = t.user_id
          ) as guest
        from tokens t
        join users u on u.id = t.user_id
        left join oauth_grants g on g.id = t.grant_id
        left join service_accounts s on s.id = t.user_id
        left join workspaces w on w.id = s.workspace_id
        left join users payer on payer.id = w.owner_id
        where t.hash = ${hash} and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
          and u.disabled_at is null and payer.disabled_at is null`,
    )
    if (!row) return null
    await this.#used(row.tokenId)
    return {
      ...row,
      session: null,
      scopes: scopes.filter((scope) => scope === 'read' || row.scopes.includes(scope)),
    }
  }

  /** Stores that the token was used, once a minute. */
  async #used(tokenId: string): Promise<void> {
    if (this.#clock.now() - (this.#lastUsed.get(tokenId) ?? 0) <= 60_000) return
    if (this.#lastUsed.size > 20_000) this.#lastUsed.clear()
    this.#lastUsed.set(tokenId, this.#clock.now())
    await this.#database.asSystem((tx) => tx`update tokens set last_used_at = now() where id = ${tokenId}`)
  }
}
