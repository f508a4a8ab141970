/** Makes a demo account with a board, so that a new user can send a first request. */
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
  /** Code of the link that signs in. */
  linkCode: string
}

/** Returns null, and makes nothing, when an account exists. */
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
  Corkboard runs at ${url}. It has made a demo account and a board. To open the board:

  ${linkUrl(url, demo.linkCode, `/app/boards/${demo.boardId}`)}

  The link signs you in. It works once, within a day. To put a card on the board:

  curl -s ${url}/api/v1/boards/${demo.boardId}/cards \\
    -H 'authorization: Bearer ${demo.token}' \\
    -H 'content-type: application/json' \\
    -d '{"kind":"note","title":"Hello","body":"My first card"}'

`
}

/** Shown instead of a demo account when other machines can reach the service, or the database is external. */
export function firstAccountText(url: string): string {
  return `
  Corkboard runs at ${url}. There is no account yet. To make an account and a link for its first sign-in:

  npm run -s corkboard -- user add --email you@example.com --name You
  npm run -s corkboard -- user link --email you@example.com

`
}
