/** Past moments over the socket: `/collab?as_of=`. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { tail } from '../../collab/log/log.ts'
import { shareBoard } from '../../sql/accounts/accounts.ts'
import { makeBoard, makeCard, makeCards, nowhere, succeeded } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20 })
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Opens a past moment with the stock provider. Resolves when it is loaded or refused. */
async function openPast(boardId: string, token: string, asOf: string, path = '/collab') {
  const document = new Y.Doc()
  let refused: string | null = null
  const closes: number[] = []
  const socket = new HocuspocusProviderWebsocket({
    url: `${service.url.replace('http', 'ws')}${path}?as_of=${encodeURIComponent(asOf)}`,
    WebSocketPolyfill: WebSocket,
    maxAttempts: 1,
    onClose: ({ event }) => {
      closes.push(event.code)
      socket.shouldConnect = false
    },
  })
  const provider = new HocuspocusProvider({
    ...{ websocketProvider: socket, name: boardId, token, document },
    onAuthenticationFailed: ({ reason }) => (refused = reason),
  })
  provider.attach()
  ends.push(() => {
    provider.destroy()
    socket.destroy()
  })
  await until(() => provider.synced || refused !== null || closes.length > 0, 'it is loaded or refused')
  return { document, provider, refused, closes, cards: document.getMap('cards') as Y.Map<Y.Map<unknown>> }
}

test('[PS1] the stock provider shows a past moment read-only: by position, time and version; what it sends changes nothing', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const [card] = await makeCards(user, id, [{ title: 'A', body: 'text' }])
  editor.addCard('drawn', { title: 'B' })
  await editor.saved()
  const then = editor.cards.toJSON()
  const { version } = succeeded(await user.api.post(`/boards/${id}/versions`, { name: 'Then' }))
  const at = version.at as string
  await until(() => Date.now() > Date.parse(at), 'the next change has a later time')
  await service.compactor.compact(id)
  await user.api.delete(`/boards/${id}/cards/${card!.id}`)
  for (const moment of [String(version.position), at, version.id as string]) {
    const past = await openPast(id, user.token, moment)
    expect([moment, past.refused, past.cards.toJSON()]).toEqual([moment, null, then])
    expect(past.provider.authorizedScope).toBe('readonly')
    past.cards.get('drawn')!.set('title', 'changed in the past')
    await makeCard(user, id, { title: 'now' })
    past.provider.forceSync()
    await until(() => past.provider.synced, 'it is synced again')
    expect(past.provider.unsyncedChanges).toBeGreaterThan(0)
    expect(past.cards.size).toBe(2)
    past.provider.destroy()
  }
  await editor.saved()
  expect(editor.cards.get('drawn')!.get('title')).toBe('B')
  const ofBoard = await openPast(id, user.token, '0', `/collab/${id}`)
  expect([ofBoard.refused, ofBoard.cards.size]).toEqual([null, 0])
  const other = await makeBoard(user)
  expect((await openPast(other.id, user.token, '0', `/collab/${id}`)).closes).toEqual([4404])
  expect(service.counts().connections).toBe(1)
})

test('[PS2] it has the rights of as_of in the API, and tells the reason of a refusal', async () => {
  const { id } = await makeBoard(user)
  await makeCard(user, id, { title: 'Secret' })
  const [viewer, guest, stranger] = [await service.user(), await service.user(), await service.user()]
  await service.member(user.workspaceId, viewer, 'viewer')
  await service.share(id, guest, 'editor')
  const refusal = async (token: string, moment: string, board = id) =>
    (await openPast(board, token, moment)).refused
  expect(await refusal(viewer.token, '1')).toBeNull()
  expect(await refusal(guest.token, '1')).toBe('permission-denied')
  expect(await refusal(stranger.token, '1')).toBe('permission-denied')
  expect(await refusal(user.token, '1', nowhere)).toBe('permission-denied')
  expect(await refusal('wrong', '1')).toBe('token-invalid')
  expect(await refusal(user.token, '99')).toBe('no-such-moment')
  expect(await refusal(user.token, 'soon')).toBe('no-such-moment')
  await service.database.asSystem((tx) =>
    shareBoard(tx, { boardId: id, userId: guest.userId, role: 'viewer', history: true }),
  )
  expect(await refusal(guest.token, '0')).toBe('no-such-moment')
  expect(await refusal(guest.token, '1')).toBeNull()
  await service.member(user.workspaceId, viewer, 'none')
  expect(await refusal(viewer.token, '1')).toBe('permission-denied')
})

test('[X60] a past moment is opened without the content of cards that were removed before it', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(
    user,
    board.id,
    Array.from({ length: 700 }, () => ({ title: 'secret', body: 'secret', url: 'https://secret.example' })),
  )
  const ids = cards.map(({ id }) => id)
  succeeded(await user.api.delete(`/boards/${board.id}/cards`, { card_ids: ids }))
  const { live } = service
  const log = (await tail(live.database, board.id, 0))!
  const copy = await live.documents.openLog(
    { snapshot: null, updates: log.updates },
    { account: user.userId, isPro: true },
  )
  expect(copy.getMap('cards').size).toBe(0)
  expect(Buffer.from(Y.encodeStateAsUpdate(copy)).includes('secret')).toBe(false)
})
