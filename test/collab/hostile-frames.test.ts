import { randomBytes, randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import * as encoding from 'lib0/encoding'
import { afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import {
  authFrame,
  awarenessFrame,
  connect,
  enter,
  frame,
  syncFrame,
  type,
  updateFrame,
} from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const maxFrameBytes = 300_000

const { service, user } = await serviceOfFile({
  bounds: {
    maxFrameBytes,
    maxRefusals: 5,
    authenticationMs: 1500,
    maxBoardsPerSocket: 4,
    maxStatesPerConnection: 3,
  },
})
let boardId: string
let innocent: Editor

afterEach(() => everybodyGone(service))

/** A board with an innocent editor on it. */
async function newBoard(): Promise<void> {
  boardId = (await user.api.post('/boards', { name: 'Target' })).body.board.id
  innocent = await openEditor(service.url, { boardId, token: user.token })
}
const enterBoard = () => enter(service.url, { boardId, token: user.token })

async function expectUsable(): Promise<void> {
  innocent.addCard(`c${randomBytes(4).toString('hex')}`)
  await innocent.saved()
  expect(innocent.closes).toEqual([])
}

const stateVector = Y.encodeStateVector(new Y.Doc())
const anUpdate = () => {
  const doc = new Y.Doc()
  doc.getMap('cards').set('x', new Y.Map([['kind', 'note']]))
  return Y.encodeStateAsUpdate(doc)
}

describe('what is no frame', () => {
  test('[X1] text, bytes at random, frames cut off and prolonged, types that no client sends: closed with 4400', async () => {
    await newBoard()
    const frames: Record<string, (address: string) => Uint8Array | string> = {
      text: () => 'hello',
      empty: () => new Uint8Array(),
      'no address': () => new Uint8Array([0]),
      'an address without an end': () => new Uint8Array([100, 1, 2]),
      'a length without an end': (address) =>
        frame(address, type.sync, (encoder) => {
          encoding.writeVarUint(encoder, 2)
          for (let n = 0; n < 20; n++) encoding.writeUint8(encoder, 255)
        }),
      'a length beyond the frame': (address) => updateFrame(address, anUpdate()).slice(0, -3),
      'more than its length': (address) => new Uint8Array([...updateFrame(address, anUpdate()), 1, 2, 3]),
      'an unknown sync step': (address) => syncFrame(address, 7, anUpdate()),
      'an unknown type': (address) => frame(address, 42),
      'a type of many bytes': (address) => frame(address, 2 ** 40),
      'a stateless message to everybody': (address) =>
        frame(address, type.broadcastStateless, (encoder) => encoding.writeVarString(encoder, 'hi')),
      'an acknowledgement': (address) =>
        frame(address, type.syncStatus, (encoder) => encoding.writeVarUint(encoder, 1)),
      'a state vector that is none': (address) => syncFrame(address, 0, new Uint8Array([200, 200])),
      'a huge awareness frame': (address) =>
        awarenessFrame(address, [{ client: 1, clock: 1, state: JSON.stringify('x'.repeat(280_000)) }]),
      'a huge stateless message': (address) =>
        frame(address, type.stateless, (encoder) => encoding.writeVarString(encoder, 'x'.repeat(100_000))),
      'a huge token': (address) => authFrame(address, 'x'.repeat(100_000)),
    }
    for (const [name, make] of Object.entries(frames)) {
      const client = await enterBoard()
      client.send(make(boardId))
      expect([name, await client.untilClosed()]).toEqual([name, 4400])
    }
    await expectUsable()
  })

  test('[X1] whatever bytes are sent, before and after authentication, nobody else notices', async () => {
    await newBoard()
    const frames = [
      updateFrame(boardId, anUpdate()),
      authFrame(boardId, user.token),
      awarenessFrame(boardId, [{ client: 7, clock: 1, state: '{"name":"x"}' }]),
      frame(boardId, type.queryAwareness),
      frame(boardId, type.close),
      syncFrame(boardId, 0, stateVector),
      syncFrame(boardId, 1, anUpdate()),
    ]
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc
        .tuple(fc.constantFrom(...frames), fc.nat(200), fc.nat(255), fc.nat(60))
        .map(([of, at, value, cut]) => {
          const damaged = of.slice(0, Math.max(1, of.length - (cut < 40 ? 0 : cut)))
          damaged[at % damaged.length] = value
          return damaged
        }),
    )
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(bytes, { minLength: 1, maxLength: 6 }), async (isIn, sent) => {
        const client = isIn ? await enterBoard() : await connect(service.url)
        for (const one of sent) client.send(one)
        client.socket.close()
        await client.untilClosed()
      }),
      { numRuns: 150, seed: 5 },
    )
    await expectUsable()
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X2] a frame over the bound is not read: closed with 1009', async () => {
    await newBoard()
    const client = await enterBoard()
    client.send(updateFrame(boardId, new Uint8Array(maxFrameBytes)))
    expect(await client.untilClosed()).toBe(1009)
    await expectUsable()
  })

  test('[X1] what comes after the frame for which a socket is closed is not looked at', async () => {
    await newBoard()
    const client = await enterBoard()
    client.send('text')
    client.update(anUpdate())
    expect(await client.untilClosed()).toBe(4400)
    await expectUsable()
    expect(innocent.cards.has('x')).toBe(false)
  })
})

describe('boards and tokens', () => {
  test('[X3] a missing board, a foreign one, one in the trash and a name that is none are refused alike', async () => {
    await newBoard()
    const stranger = await service.user()
    const foreign = (await stranger.api.post('/boards', { name: 'Foreign' })).body.board.id as string
    const trashed = (await user.api.post('/boards', { name: 'Trash' })).body.board.id as string
    await user.api.delete(`/boards/${trashed}`)
    const names = [
      randomUUID(),
      foreign,
      trashed,
      'x',
      '',
      '__proto__',
      'constructor',
      boardId.toUpperCase(),
      '\0',
      `${boardId}\0 `,
    ]
    for (const name of names) {
      const client = await connect(service.url)
      client.send(authFrame(name, user.token))
      await until(() => client.denials.length === 1, 'it is refused')
      expect([name, client.denials, client.received(type.sync)]).toEqual([name, ['permission-denied'], []])
    }
    expect(service.inMemory(foreign)).toEqual([])
  })

  test('[X3] frames for a board that is not open on the socket reach nobody', async () => {
    await newBoard()
    const other = (await user.api.post('/boards', { name: 'Other' })).body.board.id as string
    const watcher = await openEditor(service.url, { boardId: other, token: user.token })
    const client = await enterBoard()
    client.send(updateFrame(other, anUpdate()))
    client.update(anUpdate())
    await until(() => client.acknowledgements.length === 1, 'the board that is open takes it')
    expect(watcher.cards.size).toBe(0)
    client.send(syncFrame(other, 1, anUpdate()))
    expect(await client.untilClosed()).toBe(4400)
    expect(watcher.cards.size).toBe(0)
  })

  test('[X4] updates that come with the authentication wait for it, and are acknowledged', async () => {
    await newBoard()
    const client = await connect(service.url)
    client.send(authFrame(boardId, user.token))
    client.send(updateFrame(boardId, anUpdate()))
    await until(() => client.acknowledgements.length === 1, 'it is acknowledged')
    await until(() => innocent.cards.has('x'), 'the others see it')
  })

  test('[X4] thousands of frames before authentication are not kept: the socket is closed', async () => {
    await newBoard()
    const many = await connect(service.url)
    for (let n = 0; n < 1100; n++) many.send(updateFrame(boardId, new Uint8Array([0, 0])))
    expect(await many.untilClosed()).toBe(4205)
    const large = await connect(service.url)
    for (let n = 0; n < 6; n++) large.send(updateFrame(boardId, new Uint8Array(250_000)))
    expect(await large.untilClosed()).toBe(1009)
    const documents = await connect(service.url)
    for (let n = 0; n < 6; n++) documents.send(syncFrame(randomUUID(), 0, stateVector))
    expect(await documents.untilClosed()).toBe(4205)
    await expectUsable()
  })

  test('[X5] who has authenticated may wait longer than that for a board that loads', async () => {
    const { body } = await user.api.post('/boards', { name: 'Slow' })
    const loading = service.admin.begin(async (tx) => {
      await tx`lock table board_updates in access exclusive mode`
      await new Promise((resolve) => setTimeout(resolve, 2500))
    })
    const editor = await openEditor(service.url, { boardId: body.board.id, token: user.token })
    await loading
    expect(editor.closes).toEqual([])
  })

  test('[X5] a socket on which nobody authenticates in time is closed, whatever else it sends', async () => {
    const client = await connect(service.url)
    const address = randomUUID()
    const frames = setInterval(() => client.send(frame(address, type.queryAwareness)), 100)
    expect(await client.untilClosed()).toBe(4401)
    clearInterval(frames)
  })

  test('[X5] tokens at random are refused, and after some of them the socket is closed', async () => {
    await newBoard()
    const client = await connect(service.url)
    for (let n = 0; n < 8; n++) {
      client.send(authFrame(boardId, n % 2 ? randomBytes(20).toString('hex') : `${user.token.slice(0, -1)}~`))
      await until(() => client.denials.length > n || client.closed !== null, 'it is refused')
    }
    expect(await client.untilClosed()).toBe(4401)
    expect(client.denials.length).toBeLessThanOrEqual(6)
  })

  test('[X6] a long name of a session does not let an acknowledgement out before the commit', async () => {
    await newBoard()
    const long = await connect(service.url)
    long.send(authFrame(`${boardId}\0${'s'.repeat(100)}`, user.token))
    expect(await long.untilClosed()).toBe(4400)
    const { url } = service // before its commit, an edit is shown on the same node alone
    const watcher = await openEditor(url, { boardId, token: user.token })
    const client = await enter(url, { boardId, token: user.token, session: 's'.repeat(64) })
    const lock = service.admin.begin(async (tx) => {
      await tx`select 1 from board_documents where board_id = ${boardId} for update`
      client.update(anUpdate())
      await until(() => watcher.cards.has('x'), 'the others see it')
      expect(client.acknowledgements).toEqual([])
    })
    await lock
    await until(() => client.acknowledgements.length === 1, 'it is acknowledged after the commit')
  })

  test('[X7] one socket has a bounded number of boards open', async () => {
    const client = await connect(service.url)
    for (let n = 0; n < 6; n++) {
      const id = (await user.api.post('/boards', { name: `Board ${n}` })).body.board.id as string
      client.send(authFrame(id, user.token))
    }
    expect(await client.untilClosed()).toBe(1013)
  })

  test('[X7] a board that is opened and left again and again leaves nothing behind', async () => {
    await newBoard()
    const client = await connect(service.url)
    for (let n = 0; n < 30; n++) {
      const address = `${boardId}\0s${n}`
      client.send(authFrame(address, user.token))
      client.send(syncFrame(address, 0, stateVector))
      const answers = client.received(type.sync).length
      await until(
        () => client.received(type.sync).length >= answers + 2 || client.closed !== null,
        'it is open',
      )
      client.send(frame(address, type.close))
    }
    await until(() => service.counts().connections === 1, 'only the innocent editor is left')
  })
})

describe('viewers', () => {
  test('[X8] what a viewer sends is never applied; what the board has already is acknowledged', async () => {
    await newBoard()
    innocent.addCard('seen')
    await innocent.saved()
    const viewer = await service.user()
    await service.share(boardId, viewer, 'viewer')
    const client = await enter(service.url, { boardId, token: viewer.token })
    client.send(syncFrame(boardId, 1, Y.encodeStateAsUpdate(client.documentOf(boardId))))
    await until(() => client.acknowledgements.length === 1, 'an answer')
    client.send(syncFrame(boardId, 1, anUpdate()))
    client.update(anUpdate())
    await until(() => client.acknowledgements.length === 3, 'two answers')
    expect(client.acknowledgements).toEqual([true, false, false])
    client.send(syncFrame(boardId, 1, new Uint8Array([9, 9, 9])))
    expect(await client.untilClosed()).toBe(4400)
    expect(innocent.cards.has('x')).toBe(false)
    await expectMemoryEqualsLog(service, boardId)
  })
})

describe('presence', () => {
  const state = (client: number, clock: number, value: unknown) => ({
    client,
    clock,
    state: JSON.stringify(value),
  })
  const statesSeen = () => innocent.provider.awareness!.getStates()

  test('[X9] one connection has a few small states, and none of another account’s', async () => {
    await newBoard()
    innocent.provider.setAwarenessField('user', { name: 'Innocent' })
    const own = innocent.document.clientID
    const other = await service.user()
    await service.share(boardId, other, 'viewer')
    const client = await enter(service.url, { boardId, token: other.token })
    await until(() => client.received(type.awareness).length > 0, 'the innocent editor’s state')
    client.send(awarenessFrame(boardId, [state(own, 1000, { user: { name: 'Impostor' } })]))
    client.send(awarenessFrame(boardId, [state(1, 1, { a: 'x'.repeat(20_000) })]))
    client.send(
      awarenessFrame(boardId, [{ client: 2, clock: 1, state: '['.repeat(5000) + ']'.repeat(5000) }]),
    )
    client.send(awarenessFrame(boardId, [state(3, 1, 'no object')]))
    client.send(
      awarenessFrame(
        boardId,
        Array.from({ length: 500 }, (_, n) => state(100 + n, 1, { n })),
      ),
    )
    client.send(awarenessFrame(boardId, [state(100, 2, { last: true })]))
    await until(() => statesSeen().get(100)?.['last'] === true, 'the states that may be')
    expect(new Set(statesSeen().keys())).toEqual(new Set([own, 100, 101, 102]))
    expect(statesSeen().get(own)).toEqual({ user: { name: 'Innocent' } })
    expect(service.counts().states).toBe(4)
    client.socket.terminate()
    await until(() => statesSeen().size === 1, 'its states leave with it')
    expect(service.counts().states).toBe(1)
  })

  test('[X9] an editor that comes back while its old socket lingers is seen at once, and stays seen', async () => {
    await newBoard()
    const old = await enterBoard()
    old.send(awarenessFrame(boardId, [state(5, 1, { at: 'old' })]))
    await until(() => statesSeen().get(5)?.['at'] === 'old', 'the first state')
    const fresh = await enterBoard()
    fresh.send(awarenessFrame(boardId, [state(5, 2, { at: 'fresh' })]))
    await until(() => statesSeen().get(5)?.['at'] === 'fresh', 'the second state')
    old.socket.terminate()
    fresh.send(awarenessFrame(boardId, [state(5, 3, { at: 'fresher' })]))
    await until(() => statesSeen().get(5)?.['at'] === 'fresher', 'the third state')
    fresh.socket.terminate()
    await until(() => !statesSeen().has(5), 'it has left')
  })

  test('[X9] awareness that is garbage closes the sender alone', async () => {
    await newBoard()
    const client = await enterBoard()
    client.send(awarenessFrame(boardId, [{ client: 1, clock: 1, state: '{"broken' }]))
    await until(
      () => client.closed !== null || client.received(type.close).length > 0,
      'the sender is cut off',
    )
    await expectUsable()
  })
})
