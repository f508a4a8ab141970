/** What the sockets of an account send without finishing their frames. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { Incoming, IncomingOfSocket } from '../../platform/work/incoming.ts'
import { makeBoard } from '../api/board.ts'
import { made } from '../support/crafted-updates.ts'
import { openEditor, until } from '../support/editor.ts'
import { authFrame, enter, updateFrame } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ bounds: { maxAccountIncomingBytes: 1_000_000 } })
const { id: boardId } = await makeBoard(user)

afterEach(() => everybodyGone(service))

type Client = Awaited<ReturnType<typeof enter>>

const tcpOf = ({ socket }: Client): Socket => (socket as unknown as { _socket: Socket })._socket

/** The bytes of a frame as a client sends it. Its mask changes nothing. */
function webSocketFrame(payload: Uint8Array): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x82
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(payload.byteLength), 2)
  return Buffer.concat([head, payload])
}

const update = made((doc) => doc.getText('text').insert(0, 'x'.repeat(500_000)))
const begunBytes = 400_000

const open = (owner = user, board = boardId) => enter(service.url, { boardId: board, token: owner.token })

/** Sends most of a frame. @returns a function that sends the rest */
async function begin(client: Client): Promise<() => void> {
  const frame = webSocketFrame(updateFrame(client.address, update))
  tcpOf(client).write(frame.subarray(0, begunBytes))
  await delay(50)
  return () => tcpOf(client).write(frame.subarray(begunBytes))
}

test('[X119] what the sockets of an account have begun to send is bounded together', async () => {
  const clients = [await open(), await open(), await open()]
  const finish = []
  for (const client of clients) finish.push(await begin(client))
  await until(() => clients[2]!.closed !== null, 'the third one is closed')
  expect(clients.map(({ closed }) => closed)).toEqual([null, null, { code: 1013, reason: 'try again later' }])

  const other = await service.user()
  const otherClient = await open(other, (await makeBoard(other)).id)
  ;(await begin(otherClient))()
  await until(() => otherClient.acknowledgements.length === 1, 'another account goes on')

  for (const each of [0, 1]) {
    finish[each]!()
    await until(() => clients[each]!.acknowledgements.length === 1, 'a frame that is whole is taken')
  }
  const later = [await open(), await open()]
  for (const client of later) await begin(client)
  await delay(100)
  expect(later.map(({ closed }) => closed)).toEqual([null, null])
  // Small frames are not counted.
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.addCard('a', { title: 'small' })
  await editor.saved()

  await everybodyGone(service)
  const last = [await open(), await open()]
  for (const client of last) {
    ;(await begin(client))()
    await until(() => client.acknowledgements.length === 1, 'there is room again')
  }
  expect(Y.encodeStateVector(service.inMemory(boardId)[0]!.document).byteLength).toBeGreaterThan(1)
})

test('[X119] what is queued until a board is open counts, too', async () => {
  const boards = [await makeBoard(user), await makeBoard(user), await makeBoard(user)]
  const clients: Client[] = []
  for (const { id } of boards) {
    const client = await open()
    clients.push(client)
    client.send(
      updateFrame(
        id,
        made((doc) => doc.getText('text').insert(0, 'x'.repeat(400_000))),
      ),
    )
    await delay(100)
  }
  await until(() => clients[2]!.closed !== null, 'the third one is closed')
  expect(clients.map(({ closed }) => closed?.code)).toEqual([undefined, undefined, 1013])
  clients[0]!.send(authFrame(boards[0]!.id, user.token))
  await until(() => clients[0]!.acknowledgements.length === 1, 'what was queued is taken')
  const later = await open()
  clients[0]!.update(Uint8Array.of(0, 0))
  await until(() => clients[0]!.acknowledgements.length === 2, 'a frame comes')
  later.send(
    updateFrame(
      boards[2]!.id,
      made((doc) => doc.getText('text').insert(0, 'x'.repeat(400_000))),
    ),
  )
  await delay(200)
  expect(later.closed).toBeNull()
})

test('[X119] a large frame counts until it is done, a user of sessions has a share, and nothing is left when all is gone', () => {
  const owner = new Incoming(1_000_000)
  const [one, two] = [new Incoming(300_000, owner), new Incoming(300_000, owner)]
  const sockets = [one, one, two].map((account) => {
    const socket = new IncomingOfSocket()
    socket.payFor(account)
    return socket
  }) as [IncomingOfSocket, IncomingOfSocket, IncomingOfSocket]
  expect(sockets[0].came(200_000)).toBe(true)
  sockets[0].isWhole(200_000)
  expect(sockets[1].came(60_000)).toBe(true)
  expect(sockets[1].came(60_000)).toBe(false)
  expect(sockets[2].came(200_000)).toBe(true)
  sockets[0].done(200_000)
  expect(sockets[1].came(1000)).toBe(true)
  sockets[2].payFor(one)
  expect(one.isTooMuch).toBe(true)
  for (const socket of sockets) socket.payFor(null)
  expect([owner, one, two].map(({ isEmpty }) => isEmpty)).toEqual([true, true, true])
})
