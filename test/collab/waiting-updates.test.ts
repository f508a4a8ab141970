/** Updates that wait for edits that have not come yet. */
import { afterEach, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { makeBoard } from '../api/board.ts'
import { crafted, item } from '../support/crafted-updates.ts'
import { until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ bounds: { maxAccountPendingBytes: 100_000 } })

afterEach(() => everybodyGone(service))

/** Text of a client from a clock on. */
const text = (clock: number, length: number) =>
  crafted([item(7, clock, 'text', null, new Y.ContentString('x'.repeat(length)))])

const [first, rest] = [text(0, 5), text(5, 40_000)]

async function open(owner = user) {
  const { id } = await makeBoard(owner)
  return enter(service.url, { boardId: id, token: owner.token })
}

type Client = Awaited<ReturnType<typeof open>>

/** Sends an update that waits. Nothing, sent after it, is acknowledged when it is taken. */
async function sendRest(client: Client) {
  client.update(rest)
  client.update(Uint8Array.of(0, 0))
  await until(() => client.acknowledgements.length > 0 || client.closed !== null, 'it is taken')
}

test('[X111] updates that wait for missing edits are bounded for each account over all boards', async () => {
  const [one, two, three] = [await open(), await open(), await open()]
  for (const client of [one, two]) {
    await sendRest(client)
    expect([client.closed, client.acknowledgements]).toEqual([null, [true]])
  }
  await sendRest(three)
  expect(three.closed).toEqual({ code: 1013, reason: 'try again later' })

  const other = await open(await service.user())
  await sendRest(other)
  expect(other.closed).toBeNull()

  one.update(first)
  await until(() => one.acknowledgements.length === 3, 'the missing edit has come')
  const four = await open()
  await sendRest(four)
  expect(four.closed).toBeNull()
  const five = await open()
  await sendRest(five)
  expect(five.closed?.code).toBe(1013)

  await everybodyGone(service)
  const six = await open()
  await sendRest(six)
  expect(six.closed).toBeNull()
})

test('[X133] a board where updates wait takes its next turn at once, and Node warns of no timer', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const client = await open()
  await sendRest(client)
  client.update(first)
  await until(() => client.acknowledgements.length === 3, 'the missing edit has come')
  expect(warnings).toEqual([])
})
