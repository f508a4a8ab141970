/** Attacks with repeated writes, and with a database that does not answer. */
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { locateCluster } from '../../../sql/embedded/cluster.ts'
import { clusterProcesses } from '../../../sql/embedded/processes.ts'
import type { Attack } from '../attack.ts'
import type { Attempt } from '../attempt.ts'

const silentMs = { full: 14_000, short: 11_500 }
const readyWithinMs = 2000
const answerWithinMs = 10_000
/** Tolerance for a busy machine. */
const graceMs = 1000

/** Another address than that of other attacks: one that sent unknown tokens gets 429 while tokens can't be looked up. */
const dispatcher = new Agent({ localAddress: '127.0.0.12' })

/** Counts an answer and whether it came in time. */
async function timed(
  attempt: Attempt,
  url: string,
  headers: Record<string, string>,
  withinMs: number,
): Promise<void> {
  const startMs = performance.now()
  const what = new URL(url).pathname
  try {
    const { status } = await fetch(url, { headers, dispatcher, signal: AbortSignal.timeout(60_000) })
    const late = performance.now() - startMs > withinMs + graceMs
    attempt.answered(`${what}: ${status}${late ? ` after more than ${withinMs / 1000} s` : ' in time'}`)
  } catch (error) {
    attempt.answered(`${what}: ${(error as Error).name}`)
  }
}

export const databaseAttacks: Attack[] = [
  {
    name: 'storage-cycles',
    point: 10,
    sends: '90 large cards created and deleted, 10 times',
    expects: ['200', '201'],
    short: true,
    leavesData: true,
    async prepare(attempt) {
      const text = (n: number) =>
        Array.from({ length: 1400 }, (_, at) => (at * 7919 + n).toString(36)).join(' ')
      const body = Buffer.from(
        JSON.stringify({
          cards: Array.from({ length: 90 }, (_, n) => ({
            kind: 'note',
            body: text(n).slice(0, 19_900),
            html: `<p>${text(n + 1)}${text(n + 2)}${text(n + 3)}</p>`,
          })),
        }),
      )
      const path = `/boards/${attempt.boardId}/cards`
      return async () => {
        for (let turn = 0; turn < attempt.size(10, 3); turn++) {
          const { status, text } = await attempt.send('POST', path, body)
          if (status !== 201) continue
          const { cards } = JSON.parse(text) as { cards: { id: string }[] }
          await attempt.send('DELETE', path, JSON.stringify({ card_ids: cards.map(({ id }) => id) }))
        }
      }
    },
  },
  {
    name: 'storage-overwrites',
    point: 10,
    sends: 'an editor overwrites a field of 300 KB 200 times',
    expects: ['acknowledged'],
    leavesData: true,
    async prepare(attempt) {
      const socket = await attempt.enter()
      const Y = await import('yjs')
      const document = new Y.Doc()
      const updates: Uint8Array[] = []
      document.on('update', (update: Uint8Array) => updates.push(update))
      for (let n = 0; n < 200; n++) document.getMap('hostile').set('field', `${n}`.padEnd(300_000, 'x'))
      return () => attempt.updates(socket, updates)
    },
  },
  {
    name: 'database-silent',
    point: 12,
    sends:
      'all processes of PostgreSQL are stopped for 14 s, during which it asks for /me, a board and /readyz',
    expects: [
      '/api/v1/me: 503 in time',
      '/api/v1/me: 200 in time',
      '/readyz: 503 in time',
      '/api/v1/boards: 503 in time',
    ],
    short: true,
    stopsTheDatabase: true,
    async prepare(attempt) {
      const pids = await clusterProcesses(await locateCluster(attempt.scene.dataDir))
      const { url, attacker } = attempt.scene
      const headers = { authorization: `Bearer ${attacker.tokens[1]}` }
      return async () => {
        for (const pid of pids) process.kill(pid, 'SIGSTOP')
        const asked: Promise<void>[] = []
        try {
          for (const path of ['/api/v1/boards', '/api/v1/me', '/readyz', '/api/v1/boards', '/readyz']) {
            asked.push(
              timed(attempt, url + path, headers, path === '/readyz' ? readyWithinMs : answerWithinMs),
            )
            await delay(300)
          }
          await delay(attempt.size(silentMs.full, silentMs.short))
        } finally {
          for (const pid of pids) process.kill(pid, 'SIGCONT')
        }
        await Promise.all(asked)
      }
    },
  },
]
