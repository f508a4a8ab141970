/**
 * The app's access token. The app is a public client of OAuth (PKCE), and the service knows it, so that no consent is asked
 * for. The token is kept in memory alone. A new one comes by the session: the authorization request follows its redirects
 * within `fetch`, and the code is in the address of the last answer.
 */
import { digest } from 'lib0/hash/sha256'
import { inWords, Unreachable } from './unreachable.ts'

/** The session has ended: the person has to sign in again. */
export class SignedOut extends Error {}

const clientId = 'corkboard-app'
const redirectPath = '/app/signed-in'
/** A token is renewed this long before it expires. */
const aheadMs = 60_000

interface Token {
  value: string
  renewAt: number
}

let current: Promise<Token> | null = null
/** The token of a guest, who came by a link and has no session. */
let guest: string | null = null

export const guestToken = (): string | null => guest

export function beGuest(token: string): void {
  guest = token
}

/** @throws SignedOut, Unreachable */
export async function accessToken(): Promise<string> {
  if (guest !== null) return guest
  current ??= requestToken()
  try {
    const { value, renewAt } = await current
    if (Date.now() < renewAt) return value
  } catch (error) {
    current = null
    throw error
  }
  current = requestToken()
  return (await current).value
}

/** Call it when the service has refused the token. */
export function forgetToken(): void {
  current = null
}

/** Leaves the page for the sign-in, which leads back here. */
export function signIn(): void {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
}

async function requestToken(): Promise<Token> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const state = base64url(crypto.getRandomValues(new Uint8Array(16)))
  const redirectUri = location.origin + redirectPath
  const query = new URLSearchParams({
    ...{ client_id: clientId, response_type: 'code', redirect_uri: redirectUri, state },
    ...{ scope: 'read write delete', code_challenge_method: 'S256' },
    // Not by Web Crypto, which browsers offer to pages by https alone.
    code_challenge: base64url(digest(new TextEncoder().encode(verifier))),
  })
  const { url, status } = await fetch(`/oauth/authorize?${query.toString()}`, {
    credentials: 'same-origin',
  }).catch(inWords)
  // A proxy answers while the service restarts. The session is still there.
  if (status >= 500) throw new Unreachable()
  const { pathname, searchParams } = new URL(url)
  if (pathname !== redirectPath) throw new SignedOut('You are signed out.')
  const code = searchParams.get('code')
  if (code === null || searchParams.get('state') !== state)
    throw new Error(searchParams.get('error_description') ?? 'The service gave no access.')
  const answer = await fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri },
      ...{ code, code_verifier: verifier },
    }),
  }).catch(inWords)
  if (answer.status >= 500) throw new Unreachable()
  if (!answer.ok) throw new Error('The service gave no access.')
  const { access_token: value, expires_in: seconds } = (await answer.json()) as {
    access_token: string
    expires_in: number
  }
  return { value, renewAt: Date.now() + seconds * 1000 - aheadMs }
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Moves to the address that the service calls its own, when the page was opened by another one, such as `localhost`. */
export async function moveToOwnOrigin(): Promise<boolean> {
  const answer = await fetch('/.well-known/oauth-authorization-server')
  const { issuer } = (await answer.json()) as { issuer: string }
  const { origin } = new URL(issuer)
  if (origin === location.origin) return false
  location.replace(origin + location.pathname + location.search + location.hash)
  return true
}
