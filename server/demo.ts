/** A first account with a board, so that a newcomer has something to send a request to. */
import { limits } from '../core/limits.ts'
import { addUser } from '../sql/accounts/accounts.ts'
import type { Database } from '../sql/database.ts'
import { makeLink } from '../sql/accounts/sign-in-links.ts'
import { locks } from '../sql/locks.ts'
import { mintToken } from '../sql/accounts/tokens.ts'
import { linkUrl } from './link-url.ts'

export interface Demo {
  token: string
  boardId: string
  /** Of the link by which somebody chooses the account's password and is signed in. */
  linkCode: string
}

/** Null when there are accounts already. */
export async function makeDemo(database: Database): Promise<Demo | null> {
  return database.asSystem(async (tx) => {
    await tx`select pg_advisory_xact_lock(${locks.demo})`
    const [user] = await tx`select from users limit 1`
    if (user) return null
    const { userId, workspaceId } = await addUser(tx, {
      email: 'demo@corkboard.local',
      name: 'Demo',
      tier: 'pro',
    })
    const { token } = await mintToken(tx, { userId, name: 'demo', scopes: ['read', 'write', 'delete'] })
    const { code } = await makeLink(tx, { userId, hours: limits.signIn.linkHours.default })
    const [board] = await tx<{ id: string }[]>`
      insert into boards (workspace_id, name) values (${workspaceId}, 'Welcome') returning id`
    return { token, boardId: board!.id, linkCode: code }
  })
}

export async function hasAccounts(database: Database): Promise<boolean> {
  const rows = await database.asSystem((tx) => tx`select from users limit 1`)
  return rows.length > 0
}

export function demoText(demo: Demo, url: string): string {
  return `
  Corkboard runs at ${url}. A demo account and a board are made; put a card on it:

  curl -s ${url}/api/v1/boards/${demo.boardId}/cards \\
    -H 'authorization: Bearer ${demo.token}' \\
    -H 'content-type: application/json' \\
    -d '{"kind":"note","title":"Hello","body":"My first card"}'

  Choose a password and sign in by this link, once and within a day:

  ${linkUrl(url, demo.linkCode)}

`
}

/** Where no demo account is made: others could reach it, or share its database. */
export function firstAccountText(url: string): string {
  return `
  Corkboard runs at ${url}. There is no account yet; make one, and a link to sign in by:

  npm run -s corkboard -- user add --email you@example.com --name You
  npm run -s corkboard -- user link --email you@example.com

`
}
