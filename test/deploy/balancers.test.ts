/** Two nodes behind the real HAProxy and nginx, with the files of `deploy/`. Tests with the service use TLS. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { limits } from '../../core/limits.ts'
import { pngOf, upload } from '../api/file.ts'
import { balancerNames, lineTo, startBalancer, type Balancer } from '../support/balancers.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openEvents } from '../support/event-client.ts'
import { ApiClient } from '../support/http.ts'
import { repository } from '../support/instance.ts'
import type { TestService } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-nodes-'))
afterAll(() => rm(dataDir, { recursive: true, force: true }))
const { here, there, user } = await nodesOfFile({
  config: { dataDir, trustProxy: 1, egressAllow: ['127.0.0.1/32'] },
})
afterEach(leaveAll)

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Balanced' })).body.board.id

const portOf = ({ url }: TestService) => Number(new URL(url).port)

/** The requests that each node got. */
const requests = new Map<TestService, string[]>()
for (const node of [here, there]) {
  const urls: string[] = []
  requests.set(node, urls)
  node.app.server.on('request', ({ url }) => urls.push(url!))
}
const nodeThatGot = (part: string) =>
  [here, there].filter((node) => requests.get(node)!.some((url) => url.includes(part)))
const nodeWithCanvas = (boardId: string) =>
  [here, there].filter((node) => (node.gateway.hocuspocus.documents.get(boardId)?.connections.size ?? 0) > 0)

const cardPath = (boardId: string) => `/boards/${boardId}/cards`
const note = { kind: 'note', x: 0, y: 0 }
const open = (balancer: Balancer, boardId: string) =>
  openEditor(balancer.url, { boardId, token: user.token, path: `/collab/${boardId}` })

/** How long the source of an import takes. */
const slowMs = 2000

/** A node without a service. */
async function stub(answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

type Ports = [number, number]

async function balance(name: (typeof balancerNames)[number], ports: Ports, tls = false): Promise<Balancer> {
  const balancer = await startBalancer(name, ports, { tls })
  onTestFinished(() => balancer.close())
  return balancer
}

describe.each(balancerNames)('%s', (name) => {
  test(
    '[RB3, RB8] requests and sockets of one board reach the same node, and boards are spread',
    { timeout: 60_000 },
    async () => {
      const balancer = await balance(name, [portOf(here), portOf(there)], true)
      const api = new ApiClient(balancer.url, user.token)
      const nodes = new Set<TestService>()
      for (let n = 0; n < 12; n++) {
        const boardId = await newBoard()
        const editor = await open(balancer, boardId)
        const made = await api.post(cardPath(boardId), note)
        expect([made.status, made.body.live]).toEqual([201, true])
        await until(() => editor.cards.size === 1, 'the card is on the canvas')
        editor.addCard('mine')
        await editor.saved()
        const [node, ...others] = nodeWithCanvas(boardId)
        expect(others).toEqual([])
        expect(nodeThatGot(boardId)).toEqual([node])
        nodes.add(node!)
      }
      expect(nodes.size).toBe(2)
    },
  )

  test('[RB4] when a node is gone, the other one serves its boards', { timeout: 60_000 }, async () => {
    const lines = [await lineTo(portOf(here)), await lineTo(portOf(there))] as const
    const balancer = await balance(name, [lines[0].port, lines[1].port])
    const api = new ApiClient(balancer.url, user.token)
    const boardIds = await Promise.all(Array.from({ length: 6 }, newBoard))
    const editors = await Promise.all(boardIds.map((boardId) => open(balancer, boardId)))
    const [first, second] = [here, there].map((node) =>
      boardIds.filter((id) => nodeWithCanvas(id).includes(node)),
    )
    const isFirst = first!.length >= second!.length
    await lines[isFirst ? 0 : 1].cut()
    for (const boardId of boardIds) expect((await api.post(cardPath(boardId), note)).status).toBe(201)
    for (const editor of editors) {
      editor.addCard('after')
      await until(() => editor.cards.size === 2, 'the card of the request')
      await editor.saved()
    }
    for (const boardId of boardIds)
      await until(() => nodeWithCanvas(boardId)[0] === (isFirst ? there : here), 'it moved')
    await lines[isFirst ? 1 : 0].cut()
  })

  test('[SE10] a stream of events passes, each event at once', { timeout: 60_000 }, async () => {
    const balancer = await balance(name, [portOf(here), portOf(there)], true)
    const client = await openEvents(balancer.url, user)
    for (let n = 1; n <= 2; n++) {
      const boardId = await newBoard()
      await until(() => client.events.some(({ body }) => body.board?.id === boardId), 'the event is there')
    }
    client.cut()
    await until(() => here.eventStreams.count + there.eventStreams.count === 0, 'the node knows of the end')
  })

  test('[RB5, RB8] a 25 MB upload passes', { timeout: 60_000 }, async () => {
    const balancer = await balance(name, [portOf(here), portOf(there)], true)
    const file = pngOf(limits.files.uploadBytes)
    const answer = await upload({ ...here, url: balancer.url }, user, await newBoard(), file)
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ bytes: file.byteLength })])
  })

  test('[RB5, RB8] an import whose source is slow is answered', { timeout: 60_000 }, async () => {
    const balancer = await balance(name, [portOf(here), portOf(there)], true)
    const source = await stub((_request, response) => {
      response.setHeader('content-type', 'image/png')
      setTimeout(() => response.end(pngOf(300)), slowMs)
    })
    const items = [{ url: `http://127.0.0.1:${source}/slow.png` }]
    const startedAt = performance.now()
    const api = new ApiClient(balancer.url, user.token)
    const answer = await api.post(`/boards/${await newBoard()}/import`, { items })
    expect(performance.now() - startedAt).toBeGreaterThan(slowMs)
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ created: 1, failed: 0 })])
  })
})

test('[RB5] each timeout of a request under way is longer than the longest import', async () => {
  const settings = {
    'haproxy.cfg': /^ *timeout (?:client|server|tunnel) (\d+)s$/gm,
    'nginx.conf': /^ *(?:proxy_read_timeout|proxy_send_timeout|client_body_timeout|send_timeout) (\d+)s;$/gm,
  }
  for (const [name, timeout] of Object.entries(settings)) {
    const text = await readFile(join(repository, 'deploy', name), 'utf8')
    const seconds = [...text.matchAll(timeout)].map(([, value]) => Number(value))
    expect(seconds).toHaveLength(name === 'nginx.conf' ? 4 : 3)
    expect(Math.min(...seconds) * 1000).toBeGreaterThan(2 * limits.import.callMs)
  }
})

test('[RB7] while no node is ready, HAProxy answers as a node does', async () => {
  const drains = new Set<string>()
  const node = (id: string) =>
    stub(({ url }, response) => response.writeHead(url === '/readyz' && drains.has(id) ? 503 : 200).end(id))
  const balancer = await balance('haproxy', [await node('one'), await node('two')])
  drains.add('one').add('two')
  await until(async () => (await fetch(`${balancer.url}/`)).status === 503, 'no node is ready')
  const answer = await fetch(`${balancer.url}/`)
  expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
    503,
    '2',
    { error: expect.any(String), code: 'storage_unavailable' },
  ])
})

test('[RB6] HAProxy sends nothing new to a node whose /readyz is 503', async () => {
  const drains = new Set<string>()
  const node = (id: string) =>
    stub(({ url }, response) => response.writeHead(url === '/readyz' && drains.has(id) ? 503 : 200).end(id))
  const balancer = await balance('haproxy', [await node('one'), await node('two')])
  const ask = async () => (await fetch(`${balancer.url}/`)).text()
  const asked = async () => new Set([await ask(), await ask(), await ask(), await ask()])
  expect(await asked()).toEqual(new Set(['one', 'two']))
  drains.add('one')
  await until(async () => (await asked()).size === 1, 'it drains')
  expect(await asked()).toEqual(new Set(['two']))
  drains.clear()
  await until(async () => (await asked()).size === 2, 'it is back')
})
