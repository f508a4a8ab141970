/** Signed URLs of files: they need no token, so that `<img>` shows them. */
import type { Signing } from '../../platform/secrets/signatures.ts'
import type { ResizeFormat } from '../../core/file.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import { apiRoot } from '../http/root.ts'

/** What a URL lets its holder read. */
export interface SignedFile {
  key: string
  /** Width of the resized image. Null: the whole file. */
  width: number | null
  format: ResizeFormat
  /** The account for which it was signed. */
  by: string
  /** Unix seconds. */
  expires: number
  /**
   * Of the session that asked: the token of its minter, when sessions of its user were last ended, and its board when it
   * has only one. Null: no session.
   */
  session: string | null
}

const halfHourMs = 30 * 60_000

/** URLs end at a half hour, half an hour to an hour from now, so that they stay the same for a while; and with a session. */
export function urlEnd(nowMs: number, { session }: Principal): number {
  const rounded = (Math.floor(nowMs / halfHourMs) + 2) * halfHourMs
  return Math.floor(Math.min(rounded, session ? Date.parse(session.claims.expires) : Infinity) / 1000)
}

/** The only board of the caller's session. Null without a session, and when it has several: it ends with any of them. */
export const onlyBoard = ({ session }: Principal): string | null =>
  session?.claims.boards?.length === 1 ? session.claims.boards[0]! : null

/** @param ended what sessions_ended() says of `onlyBoard` */
export const signedSession = (principal: Principal, ended: string): string | null =>
  principal.session && [principal.session.claims.token, ended, onlyBoard(principal) ?? []].flat().join('.')

const textOf = ({ key, width, format, by, expires, session }: SignedFile) =>
  JSON.stringify([key, width, format, by, expires, session])

/** @param publicUrl of the service */
export function signedUrl(signing: Signing, publicUrl: string, file: SignedFile): string {
  const { key, width, format, by, expires, session } = file
  const query = new URLSearchParams({
    ...(width === null ? {} : { w: String(width), format }),
    expires: String(expires),
    by,
    ...(session === null ? {} : { session }),
    signature: signing.sign(textOf(file)),
  })
  return `${publicUrl}${apiRoot}/images/${key}?${query.toString()}`
}

export const isSignedBy = (signing: Signing, file: SignedFile, signature: string): boolean =>
  signing.isSigned(textOf(file), signature)
