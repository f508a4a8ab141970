/** Access that ends by a change on one node, for editors who are on another node. */
import { afterAll, afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { endSessions, startSession } from '../../sql/accounts/sessions.ts'
import { revokeToken } from '../../sql/accounts/tokens.ts'
import { disconnectApplication } from '../../sql/oauth/oauth-grants.ts'
import { succeeded } from '../api/board.ts'
import { connectApplication } from '../support/application.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { startService, type TestUser } from '../support/service.ts'

const testDatabase = await cloneDatabase()
const here = await startService({ testDatabase })
/** It looks at open sockets too rarely for these tests. */
const there = await startService({ testDatabase, accessCheckMs: 600_000 })
const polling = await startService({ testDatabase })

// On a busy machine a node may lose its lock while it starts. Then it opens no board until it holds one again.
for (const { url } of [here, there, polling])
  await until(async () => (await fetch(`${url}/readyz`)).ok, 'the node opens boards', 30_000)

afterEach(leaveAll)
afterAll(async () => {
  for (const node of [polling, there, here]) await node.stop()
  await testDatabase.drop()
})

const isCutOff = (editor: Editor) => editor.closes.some(({ code }) => code === 4403)
const isReadOnly = (editor: Editor) => editor.provider.authorizedScope === 'readonly'

interface Change {
  give?(owner: TestUser, user: TestUser, boardId: string): Promise<void>
  /** With what the editor opens the board. Default: the account's token. */
  enter?(user: TestUser): Promise<{ token: string; webSocket?: new (url: string) => WebSocket }>
  end(owner: TestUser, user: TestUser, boardId: string): Promise<unknown>
  hasEnded?(editor: Editor): boolean
}

const member = (owner: TestUser, user: TestUser) => here.member(owner.workspaceId, user, 'editor')
/** Signed in, as a page of the service opens a socket. */
async function signedIn({ userId }: TestUser) {
  const { secret } = await here.database.asSystem((tx) =>
    startSession(tx, { userId, ip: '127.0.0.1', userAgent: null }),
  )
  class PageSocket extends WebSocket {
    constructor(url: string) {
      const { origin } = new URL(url.replace('ws', 'http'))
      super(url, { headers: { cookie: `corkboard_session=${secret}`, origin } })
    }
  }
  return { token: '', webSocket: PageSocket }
}
const share = (_owner: TestUser, user: TestUser, boardId: string) => here.share(boardId, user, 'editor')

/** Sessions, by the user for whom they are minted. */
const minted = new Map<TestUser, string>()
async function mintFor({ api }: TestUser, user: TestUser, boardId: string): Promise<void> {
  const asked = { board_ids: [boardId], role: 'editor', user: { id: user.userId, name: 'Ada' } }
  minted.set(user, succeeded(await api.post('/sessions', asked)).access_token)
}
const mintedFor = (user: TestUser) => Promise.resolve({ token: minted.get(user)! })

const changes: Record<string, Change> = {
  'a member who is removed': {
    give: member,
    end: (owner, user) => here.member(owner.workspaceId, user, 'none'),
  },
  'a member who becomes a viewer': {
    give: member,
    end: (owner, user) => here.member(owner.workspaceId, user, 'viewer'),
    hasEnded: isReadOnly,
  },
  'a share that ends': {
    give: share,
    end: (_owner, user, boardId) => here.share(boardId, user, 'none'),
  },
  'a share that becomes one for reading': {
    give: share,
    end: (_owner, user, boardId) => here.share(boardId, user, 'viewer'),
    hasEnded: isReadOnly,
  },
  'a token that is revoked': {
    give: share,
    end: (_owner, { tokenId }) => here.database.asSystem((tx) => revokeToken(tx, tokenId)),
  },
  'a session that ends': {
    give: share,
    enter: signedIn,
    end: (_owner, { userId }) => here.database.asSystem((tx) => endSessions(tx, userId)),
  },
  'a minted session whose user is ended': {
    give: mintFor,
    enter: mintedFor,
    end: ({ workspaceId, api }, { userId }) =>
      api.delete('/sessions', { workspace_id: workspaceId, user_id: userId }),
  },
  'a minted session whose board is ended': {
    give: mintFor,
    enter: mintedFor,
    end: ({ api }, _user, boardId) => api.delete('/sessions', { board_id: boardId }),
  },
  'a minted session of a token that is revoked': {
    give: mintFor,
    enter: mintedFor,
    end: ({ tokenId }) => here.database.asSystem((tx) => revokeToken(tx, tokenId)),
  },
  'an application that is disconnected': {
    give: share,
    enter: (user) => connectApplication(here, user, 'an application'),
    end: (_owner, { userId }) =>
      here.database.asUser(userId, (tx) => disconnectApplication(tx, 'an application')),
  },
  'a board in the trash': {
    give: share,
    end: (owner, _user, boardId) => owner.api.delete(`/boards/${boardId}`),
  },
}

/** Makes the change. @returns the milliseconds until the editor on the other node has lost its access */
async function timed({ give, enter, end, hasEnded = isCutOff }: Change, url: string): Promise<number> {
  const [owner, user] = [await here.user(), await here.user()]
  const boardId = (await owner.api.post('/boards', { name: 'Access' })).body.board.id
  await give?.(owner, user, boardId)
  const entry = await (enter?.(user) ?? { token: user.token })
  // It connects again when a busy machine delays its first attempt.
  const editor = await openEditor(url, { boardId, ...entry })
  expect(editor.provider.authorizedScope).toBe('read-write')
  await end(owner, user, boardId)
  const endedAt = performance.now()
  await until(() => hasEnded(editor), 'the editor has lost its access', 2000)
  return performance.now() - endedAt
}

test.for(Object.entries(changes))(
  '[R7] %s: an editor on another node loses access by a message',
  async ([, change]) => {
    await timed(change, there.url)
  },
)

test('[R8] editors on another node lose access within two seconds when all messages are lost', async () => {
  for (const [table, trigger] of [
    ['workspace_members', 'workspace_members_ended'],
    ['board_shares', 'board_shares_ended'],
    ['boards', 'boards_ended'],
    ['tokens', 'tokens_revoked'],
    ['sessions', 'sessions_ended'],
    ['ended_sessions', 'sessions_ended'],
  ])
    await here.admin.unsafe(`alter table ${table} disable trigger ${trigger}`)
  await Promise.all(Object.values(changes).map((change) => timed(change, polling.url)))
})
