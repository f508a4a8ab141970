/** One contract for both drivers of the bus, on a real PostgreSQL and a real Redis. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Bus } from '../../collab/bus/bus.ts'
import {
  maxMessageBytes,
  type Message,
  type MessageKind,
  type NodeMessage,
} from '../../collab/bus/messages.ts'
import { openBus } from '../../collab/bus/open-bus.ts'
import { databaseId } from '../../sql/database-id.ts'
import { openDatabase, type Database } from '../../sql/database.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { logLines } from '../support/log-lines.ts'
import { processFaults } from '../support/process-faults.ts'
import { runningRedis } from '../support/redis-server.ts'
import { forFile } from '../support/test-file.ts'

const redis = await forFile(runningRedis())

interface Node {
  bus: Bus
  database: Database
  heard: Message[]
  logged(text: string): string[]
}

const kinds: MessageKind[] = ['hint', 'show', 'shown', 'awareness', 'left', 'notified', 'revoked']
const board = randomUUID()
const head = { seq: 7, indexedSeq: 6, apiClient: 2 ** 52, apiClock: 9, topZ: -1.5, logRows: 3, logBytes: 90 }
const signed = {
  added: [{ board, after: 6, head, updates: randomBytes(9000).toString('base64') }],
  signature: 'x',
}
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
  expect(processFaults()).toEqual([])
})

async function newDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase()
  closing.push(() => database.drop())
  return database
}

async function openNode(url: string, redisUrl: string | null, poolSize = 2): Promise<Node> {
  const database = openDatabase({ url, poolSize })
  const { log, about } = logLines()
  const bus = openBus({ database, redisUrl, log })
  const heard: Message[] = []
  for (const kind of kinds) bus.on(kind, (message) => void heard.push(message))
  await bus.start()
  onTestFinished(async () => {
    await bus.stop()
    await database.close()
  })
  if (redisUrl !== null) await until(() => about('Redis is connected').length > 0, 'Redis is connected')
  return { bus, database, heard, logged: about }
}

const drivers = [
  ['NOTIFY', null],
  ['Redis', redis.url],
] as const

const one = await newDatabase()
const other = await newDatabase()

describe.each(drivers)('%s', (name, redisUrl) => {
  /** Sends a text to a node as any program can do. */
  async function inject(node: Node, text: string): Promise<void> {
    if (name === 'NOTIFY')
      await node.database.callAsSystem((sql) => sql`select pg_notify('corkboard_nodes', ${text})`)
    else {
      const channel = `corkboard:${await databaseId(node.database)}`
      const heads = `*3\r\n$7\r\nPUBLISH\r\n$${channel.length}\r\n${channel}\r\n`
      await redis.command(`${heads}$${Buffer.byteLength(text)}\r\n${text}`)
    }
  }

  test('[NB1] every message reaches all other nodes as it was sent, with its sender, and not the sender', async () => {
    const [a, b, c] = [
      await openNode(one.url, redisUrl),
      await openNode(one.url, redisUrl),
      await openNode(one.url, redisUrl),
    ]
    const sent: NodeMessage[] = [
      { kind: 'hint', boards: Array.from({ length: 1000 }, (_, seq) => [randomUUID(), seq]) },
      { kind: 'show', ask: randomUUID(), board, seq: 7 },
      { kind: 'show', ask: randomUUID(), board, seq: 7, signed },
      { kind: 'shown', ask: randomUUID(), board, seq: 7 },
      { kind: 'left' },
    ]
    for (const message of sent) a.bus.publish(message)
    for (const node of [b, c]) {
      await until(() => node.heard.length === sent.length, 'all messages arrive')
      expect(node.heard).toEqual(sent.map((message) => ({ v: 1, from: a.bus.node, ...message })))
    }
    b.bus.publish({ kind: 'shown', ask: randomUUID(), board, seq: 8 })
    await until(() => a.heard.length === 1, 'the answer arrives')
    expect(a.heard).toMatchObject([{ kind: 'shown', from: b.bus.node }])
    expect(a.bus.counts()).toEqual({ sent: 5, received: 1, ignored: 0, lost: 0 })
  })

  test('[NB1] bytes of awareness arrive as they are, of any size up to the limit', async () => {
    const [a, b] = [await openNode(one.url, redisUrl), await openNode(one.url, redisUrl)]
    const line = new Uint8Array([10, 13, 0, 255, 10])
    const largest = maxMessageBytes - 200
    const sent = [
      new Uint8Array(),
      line,
      ...[1, 5900, 5930, 6000, 80_000, largest].map((n) => randomBytes(n)),
    ]
    for (const bytes of sent) a.bus.publish({ kind: 'awareness', board, bytes })
    await until(() => b.heard.length === sent.length, 'all arrive', 5000)
    const got = b.heard.map((message) => (message.kind === 'awareness' ? Buffer.from(message.bytes) : null))
    expect(got.map((bytes) => bytes?.toString('hex'))).toEqual(
      sent.map((bytes) => Buffer.from(bytes).toString('hex')),
    )
    expect(b.heard.every((message) => message.kind === 'awareness' && message.board === board)).toBe(true)
  })

  test('[NB2] nodes of another database hear nothing', async () => {
    const [a, b, stranger] = [
      await openNode(one.url, redisUrl),
      await openNode(one.url, redisUrl),
      await openNode(other.url, redisUrl),
    ]
    a.bus.publish({ kind: 'hint', boards: [[board, 1]] })
    stranger.bus.publish({ kind: 'hint', boards: [[board, 2]] })
    await until(() => b.heard.length > 0, 'it arrives')
    a.bus.publish({ kind: 'left' })
    await until(() => b.heard.length > 1, 'and the next')
    expect(b.heard.map(({ kind }) => kind)).toEqual(['hint', 'left'])
    expect([a.heard, stranger.heard]).toEqual([[], []])
  })

  test('[NB3] what is malformed, unknown, too large or of another version is ignored, counted, and logged once in a while', async () => {
    const [a, b] = [await openNode(one.url, redisUrl), await openNode(one.url, redisUrl)]
    const id = randomUUID()
    const odd = [
      'x',
      '{}',
      '\n\n\n',
      '{"v":1,"kind":"shown"}',
      `{"v":2,"kind":"left","from":"${id}"}`,
      `{"kind":"left","from":"${id}"}`,
      `{"v":1,"kind":"of a newer version","from":"${id}"}`,
      `{"v":1,"kind":"awareness","from":"${id}","board":"${id}"}`,
      `{"v":1,"kind":"hint","from":"${id}","boards":[["${id}",-1]]}`,
      '\u0001\uffff',
    ]
    a.bus.publish({ kind: 'awareness', board, bytes: new Uint8Array(maxMessageBytes + 1) })
    for (const text of odd) await inject(b, text)
    a.bus.publish({ kind: 'left' })
    await until(() => b.heard.length === 1, 'later messages are received')
    expect(b.heard).toEqual([{ v: 1, kind: 'left', from: a.bus.node }])
    expect(b.bus.counts()).toMatchObject({ received: 1, ignored: odd.length })
    expect(b.logged('were ignored')).toHaveLength(1)
    expect(a.logged('not sent')).toHaveLength(1)
  })

  test('[NB3] a handler that fails harms no other', async () => {
    const [a, b] = [await openNode(one.url, redisUrl), await openNode(one.url, redisUrl)]
    b.bus.on('left', () => {
      throw new Error('canary 1')
    })
    b.bus.on('left', () => Promise.reject(new Error('canary 2')))
    const after: string[] = []
    b.bus.on('left', ({ from }) => void after.push(from))
    a.bus.publish({ kind: 'left' })
    await until(() => after.length === 1 && b.logged('canary').length === 2, 'all handlers ran')
  })

  test('[NB1] a message that is sent just before the end leaves', async () => {
    const [a, b] = [await openNode(one.url, redisUrl), await openNode(one.url, redisUrl)]
    a.bus.publish({ kind: 'hint', boards: [[board, 1]] })
    a.bus.publish({ kind: 'left' })
    await a.bus.stop()
    await until(() => b.heard.at(-1)?.kind === 'left', 'it arrives')
  })

  test('[NB4] messages do not wait for connections that requests use', async () => {
    const [a, b] = [await openNode(one.url, redisUrl), await openNode(one.url, redisUrl)]
    const release = Promise.withResolvers<void>()
    const slow = [a, a, a, b, b, b].map(({ database }) => database.asSystem(() => release.promise))
    a.bus.publish({ kind: 'left' })
    await until(() => b.heard.length === 1, 'it arrives')
    release.resolve()
    await Promise.all(slow)
  })
})

test('[NB1] a node whose start is undone before it listens sends nothing, and logs nothing', async () => {
  const database = openDatabase({ url: one.url })
  onTestFinished(() => database.close())
  const { log, lines } = logLines()
  const bus = openBus({ database, redisUrl: null, log })
  bus.publish({ kind: 'left' })
  await bus.stop()
  expect(lines).toEqual([])
})
