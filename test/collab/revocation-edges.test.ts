/** Rights that end, come back, or end while someone comes in. */
import { afterEach, expect, test } from 'vitest'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { disconnectAll, enter } from '../support/raw-client.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'

/** Open sockets learn of it within this time. */
const within = 2000

let owner: TestUser
let guest: TestUser
let boardId: string
let ofOwner: Editor

const { service } = await serviceOfFile({ debounceMs: 50 })

afterEach(() => {
  leaveAll()
  disconnectAll()
})

/** A board of its owner, who has it open, and an account that has nothing to do with it yet. */
async function newBoard(): Promise<void> {
  owner = await service.user()
  guest = await service.user()
  boardId = (await owner.api.post('/boards', { name: 'Shared' })).body.board.id
  ofOwner = await openEditor(service.url, { boardId, token: owner.token })
}
const openAsGuest = () => openEditor(service.url, { boardId, token: guest.token })

test('[X41] a deletion that another process made reaches the sockets of this one as well', async () => {
  await newBoard()
  await service.admin`update boards set deleted_at = now() where id = ${boardId}`
  await until(() => ofOwner.closes.length > 0, 'the socket is closed', within)
  expect(ofOwner.closes[0]!.code).toBe(4403)
})

test.for([
  [
    'a member',
    () => service.member(owner.workspaceId, guest, 'editor'),
    () => service.member(owner.workspaceId, guest, 'viewer'),
  ],
  ['a share', () => service.share(boardId, guest, 'editor'), () => service.share(boardId, guest, 'viewer')],
] as [string, () => Promise<void>, () => Promise<void>][])(
  '[X40] %s that becomes a viewer is turned read-only within 2 s, told so, and may write again later with all it wrote',
  async ([, give, lower]) => {
    await newBoard()
    await give()
    const editor = await openAsGuest()
    const told: string[] = []
    editor.provider.on('authenticated', ({ scope }: { scope: string }) => told.push(scope))
    editor.addCard('first')
    await editor.saved()
    await lower()
    await until(() => told.length === 1, 'the editor is told', within)
    expect(told).toEqual(['readonly'])
    expect(editor.provider.authorizedScope).toBe('readonly')

    editor.addCard('refused')
    editor.cards.get('refused')!.set('title', 'edited')
    editor.cards.get('refused')!.set('x', 5)
    ofOwner.addCard('shown')
    await until(() => editor.cards.has('shown'), 'the viewer still sees')
    expect(ofOwner.cards.has('refused')).toBe(false)
    expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
    await expectMemoryEqualsLog(service, boardId)

    await give()
    await until(() => told.length === 2, 'the editor is told', within)
    expect(told[1]).toBe('read-write')
    editor.addCard('second')
    await until(() => ofOwner.cards.has('second') && ofOwner.cards.has('refused'), 'all that it wrote')
    await editor.saved()
    expect(editor.closes).toEqual([])
    await expectMemoryEqualsLog(service, boardId)
    const cards = await owner.api.get(`/boards/${boardId}/cards`)
    expect(cards.body.cards.map((card: { id: string }) => card.id).sort()).toEqual([
      'first',
      'refused',
      'second',
      'shown',
    ])
  },
)

test('[X42] a client that does not heed the close is not listened to', async () => {
  await newBoard()
  await service.share(boardId, guest, 'editor')
  const client = await enter(service.url, { boardId, token: guest.token })
  ;(
    client.socket as unknown as { _receiver: { removeAllListeners(event: string): void } }
  )._receiver.removeAllListeners('conclude')
  await service.share(boardId, guest, 'none')
  const sending = setInterval(() => client.update(new Uint8Array([0, 0])), 5)
  await until(() => service.counts().connections === 1, 'it is cut off', within)
  const answers = client.acknowledgements.length
  await until(() => service.counts().sockets === 1, 'its socket ends', 8000)
  clearInterval(sending)
  expect(client.acknowledgements.length).toBe(answers)
})

test('[X43] who is let in while the right ends is found at the next look', async () => {
  await newBoard()
  await service.share(boardId, guest, 'editor')
  const editors = await Promise.all(
    [openAsGuest(), openAsGuest(), service.share(boardId, guest, 'none')].slice(0, 2),
  ).catch(() => [])
  for (const editor of editors as Editor[])
    await until(() => editor.closes.length > 0, 'the socket is closed', within)
  await until(() => service.counts().connections === 1, 'only the owner is left', within)
})
