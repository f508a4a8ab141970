/** What is kept of answers: to the byte for who has the key, and nothing for who has the database alone. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import type { ApiAnswer } from '../support/http.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { everyPost, openPictures } from './crashed-posts.ts'

const site = await forFile(openPictures())
const { service, user } = await serviceOfFile({
  workers: false,
  config: { egressAllow: ['127.0.0.1/32'] },
})

const keyed = () => ({ 'idempotency-key': randomUUID() })

/** Of each request its own. */
const own = /^(x-request-id|x-ratelimit-.*|ratelimit.*|date|idempotent-replay)$/
const lasting = ({ headers }: ApiAnswer<unknown>) => [...headers].filter(([name]) => !own.test(name))

/** A table as a dump has it, with all that a dump hides only by its encoding. */
async function dumpOf(table: string): Promise<string> {
  const rows = await service.admin<{ text: string }[]>`
    select t::text as text from ${service.admin(table)} as t`
  return rows
    .map(({ text }) => {
      const hex = text.replace(/\\+x([0-9a-f]+)/g, (_, bytes: string) =>
        Buffer.from(bytes, 'hex').toString('latin1'),
      )
      const base64 = [...hex.matchAll(/[\w+/]{16,}={0,2}/g)].map(([run]) =>
        Buffer.from(run, 'base64').toString('latin1'),
      )
      return [text, hex, ...base64].join('\n')
    })
    .join('\n')
}

/** Texts of an answer by which one could do what it allows, or know what it says. */
function tellingTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 12 ? [value, ...value.split(/[?&=]/)] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tellingTexts) : []
}

/** Ids are no secrets: from them an answer is made again. */
const isPublic = (text: string) =>
  /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text) || /^[\w-]{16}$/.test(text) || /^\d{4}-\d\d-\d\dT/.test(text)

test('[ID1, ID11] each answer is replayed with all its headers, and the table that keeps it tells nothing of it', async () => {
  const answers: string[] = []
  for (const { path, body, headers } of await everyPost(service, user, `${site.url}/a`)) {
    const key = keyed()
    const first = await user.api.send('POST', path, body, { ...headers, ...key })
    expect(first.status, first.text).toBeLessThan(300)
    const second = await user.api.send('POST', path, body, { ...headers, ...key })
    expect([second.status, second.text, lasting(second)], path).toEqual([
      first.status,
      first.text,
      lasting(first),
    ])
    answers.push(first.text)
  }
  const dump = await dumpOf('idempotency_keys')
  const telling = new Set(
    answers
      .flatMap((text) => tellingTexts(JSON.parse(text)))
      .filter((text) => text.length >= 12 && !isPublic(text)),
  )
  expect([...telling].some((text) => text.startsWith('whsec_'))).toBe(true)
  expect([...telling].some((text) => text.startsWith('cork_'))).toBe(true)
  for (const text of telling) expect(dump.includes(text), text).toBe(false)
  for (const field of ['"board"', '"cards"', 'access_token', 'image_key', 'upload_id'])
    expect(dump.includes(field), field).toBe(false)
}, 120_000)

test('[ID7] backends terminated while boards are being created: the retry succeeds once, and no 409 sticks', async () => {
  const named = (name: string) => service.admin`select id from boards where name = ${name}`
  for (let round = 0; round < 3; round++) {
    const [key, name] = [keyed(), `Terminated ${round}`]
    const hold = await service.admin.reserve()
    await hold`begin`
    await hold`lock table boards in share mode`
    const first = user.api.post('/boards', { name }, key)
    await until(
      async () =>
        (await service.admin`select from pg_locks where not granted and relation = 'boards'::regclass`)
          .length > 0,
      'it waits for the table',
    )
    await service.admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'corkboard' and pid <> pg_backend_pid()`
    await hold`rollback`
    hold.release()
    expect([201, 503]).toContain((await first).status)
    let answer!: ApiAnswer<any>
    await until(
      async () => ![409, 503].includes((answer = await user.api.post('/boards', { name }, key)).status),
      'no 409 sticks',
    )
    expect(answer.status, answer.text).toBe(201)
    expect(await named(name)).toHaveLength(1)
    expect((await user.api.post('/boards', { name }, key)).text).toBe(answer.text)
  }
}, 120_000)
