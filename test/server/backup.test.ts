/** A backup of a service at work, restored on an embedded database and on a PostgreSQL 15 with a bucket. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { upload, pngOf } from '../api/file.ts'
import { listCards, makeBoard, makeCard, succeeded } from '../api/board.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { emptyDatabase } from '../support/first-release.ts'
import { ApiClient } from '../support/http.ts'
import { corkboard, makeDataDir, startInstance, type Instance } from '../support/instance.ts'
import { startPostgres15, type Server } from '../support/postgres-15.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { s3Credentials } from '../support/s3-double.ts'
import { startService, testSecretKey, type TestService, type TestUser } from '../support/service.ts'
import { bucketName, newBucket, openS3Double } from '../support/store-drivers.ts'
import { makeWebhook } from '../support/webhook.ts'

const key = { SECRET_KEY: testSecretKey }
const egress = { EGRESS_ALLOW: '127.0.0.1' }

let folder: string
let dataDir: string
let archive: string
let service: TestService
let receiver: Receiver
let postgres15: Server
let user: TestUser
let boardIds: string[]
/** What was acknowledged before the backup began: ids of cards by board. */
let acknowledged: [board: string, card: string][] = []
let cursor: string
let fileKeys: string[]
/** The history of the first board, as it was before the backup. */
let segment: { key: string; bytes: number }
let summary: Record<string, any>

const cleanUps: (() => Promise<void>)[] = []
const command = (...args: string[]) => corkboard(dataDir, args, { ...key, DATABASE_URL: service.databaseUrl })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corkboard-backup-'))
  dataDir = join(folder, 'data')
  archive = join(folder, 'archive.tar.zst')
  receiver = await openReceiver()
  postgres15 = await startPostgres15()
  service = await startService({
    config: { dataDir, egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 1 },
    nodes: 1,
  })
  user = await service.user()
  boardIds = await Promise.all(Array.from({ length: 5 }, async () => (await makeBoard(user)).id))
  const sizes = [200, 70_000, 3_000_000]
  const stored = await Promise.all(sizes.map((bytes) => upload(service, user, boardIds[0]!, pngOf(bytes))))
  fileKeys = stored.map(({ body }) => body.image_key)
  await makeWebhook(service, user, receiver.url, { events: ['card.created'] })
  cursor = succeeded(
    await user.api.get(`/boards/${boardIds[0]}/cards?source=index&since=2026-01-01T00:00:00Z`),
  )['next_cursor']
  await makeCard(user, boardIds[0]!, { title: 'Past' })
  await service.compactor.compact(boardIds[0]!)
  const [row] = await service.admin<(typeof segment)[]>`select key, bytes from board_history`
  segment = row!
  await backUpUnderLoad()
}, 120_000)

afterAll(async () => {
  leaveAll()
  await service?.stop()
  for (const cleanUp of cleanUps) await cleanUp()
  await receiver?.close()
  await postgres15?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** 20 editors and 10 clients of the API add cards from before the backup to after it. */
async function backUpUnderLoad(): Promise<void> {
  const over = new AbortController()
  const saved: typeof acknowledged = []
  const editing = Array.from({ length: 20 }, async (_, n) => {
    const boardId = boardIds[n % 5]!
    const editor = await openEditor(service.url, { boardId, token: user.token })
    for (let count = 0; !over.signal.aborted; count++) {
      editor.addCard(`editor-${n}-${count}`, { title: 'Edited' })
      await editor.saved()
      saved.push([boardId, `editor-${n}-${count}`])
    }
  })
  const writing = Array.from({ length: 10 }, async (_, n) => {
    const boardId = boardIds[n % 5]!
    while (!over.signal.aborted)
      saved.push([boardId, (await makeCard(user, boardId, { title: 'Written' })).id])
  })
  await until(() => saved.length > 300, 'the load has written', 60_000)
  acknowledged = [...saved]
  const { code, stdout, stderr } = await command('backup', '--to', archive)
  const written = saved.length
  over.abort()
  await Promise.all([...editing, ...writing])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(written).toBeGreaterThan(acknowledged.length)
  summary = JSON.parse(stdout)
}

/** What must hold of a restored service, whatever its database and its store. */
async function expectRestored(instance: Instance): Promise<void> {
  const api = new ApiClient(instance.url, user.token)
  const restored = { ...user, api }
  await expectAcknowledged(restored)
  for (const key of fileKeys) {
    const headers = { authorization: `Bearer ${user.token}` }
    const [before, after] = await Promise.all(
      [service.url, instance.url].map(async (url) =>
        Buffer.from(await (await fetch(`${url}/api/v1/images/${key}`, { headers })).arrayBuffer()),
      ),
    )
    expect(after!.equals(before!)).toBe(true)
  }
  const { code, stdout } = await instance.corkboard('verify', '--json')
  const found = JSON.parse(stdout)
  expect({ code, boards: found.boards, files: found.files }).toEqual({
    code: 0,
    boards: { checked: 5, differences: [] },
    files: { checked: 4, differences: [] },
  })
  const past = succeeded(await api.get(`/boards/${boardIds[0]}/cards?as_of=1`))
  expect(past.cards).toMatchObject([{ title: 'Past' }])
  await expectFeedGoesOn(restored)
  await expectDeliveriesAfterResume(instance, restored)
}

async function expectAcknowledged(restored: TestUser): Promise<void> {
  const found = new Set<string>()
  for (const boardId of boardIds)
    for (const { id } of await listCards(restored, boardId)) found.add(`${boardId} ${id}`)
  expect(acknowledged.filter(([board, card]) => !found.has(`${board} ${card}`))).toEqual([])
}

async function expectFeedGoesOn({ api }: TestUser): Promise<void> {
  const boardId = boardIds[0]!
  const { id } = await makeCard({ ...user, api }, boardId, { title: 'After the restore' })
  const seen: string[] = []
  let at = cursor
  await until(async () => {
    const page = succeeded(
      await api.get(`/boards/${boardId}/cards?source=index&limit=500&cursor=${encodeURIComponent(at)}`),
    )
    seen.push(...page['cards'].map((card: { id: string }) => card.id))
    at = page['next_cursor']
    return seen.includes(id)
  }, 'the feed shows the new card')
  const before = acknowledged.filter(([board]) => board === boardId).map(([, card]) => card)
  expect(before.filter((card) => !seen.includes(card))).toEqual([])
  expect(new Set(seen).size).toBe(seen.length)
}

async function expectDeliveriesAfterResume(instance: Instance, { api }: TestUser): Promise<void> {
  const of = (title: string) => receiver.received.filter(({ raw }) => raw.includes(title))
  const { id } = await makeCard({ ...user, api }, boardIds[1]!)
  expect(instance.stdout()).toContain('a restore has paused webhook deliveries; run `corkboard resume`')
  expect(of(id)).toEqual([])
  const { stdout } = await instance.corkboard('resume')
  expect(JSON.parse(stdout)).toEqual({ resumed: true })
  await until(() => of(id).length === 1, 'the webhook gets the card', 30_000)
  expect(JSON.parse((await instance.corkboard('resume')).stdout)).toEqual({ resumed: false })
}

test('[BR1, BR2] a backup of a busy service is one file that only its owner may read; it tells what it holds', async () => {
  expect(summary).toMatchObject({
    path: archive,
    files: 4,
    file_bytes: 3_070_200 + segment.bytes,
    missing_files: [],
  })
  const { mode, size } = await stat(archive)
  expect(mode & 0o777).toBe(0o600)
  expect(summary['bytes']).toBe(size)
  expect(await readdir(folder)).toEqual(['archive.tar.zst', 'data'])
})

test(
  '[BR3, BR5, BR6] restored into a new embedded instance, all that was acknowledged is there, feeds go on, webhooks deliver once they are resumed',
  { timeout: 120_000 },
  async () => {
    const target = await makeDataDir(onTestFinished)
    const { code, stdout, stderr } = await corkboard(target, ['restore', '--from', archive], key)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(user.tokenId)
    expect(stdout).toContain(
      'let somebody in again: 1 tokens, 0 connected applications, 0 sign-in links, 0 guest links, 0 invitations, 0 sessions.',
    )
    const instance = await startInstance(target, { ...key, ...egress })
    onTestFinished(() => void instance.stop())
    await expectRestored(instance)
    await instance.stop()
  },
)

test('[BR4, BR5, BR6] the same in a PostgreSQL 15 with a bucket', { timeout: 120_000 }, async () => {
  const bucket = newBucket()
  const s3 = await openS3Double(bucket)
  onTestFinished(() => s3.close())
  const { url } = await emptyDatabase(postgres15.adminUrl, postgres15.serviceUrl)
  const env = {
    ...{ ...key, ...egress, DATABASE_URL: url, STORAGE: 's3', S3_ENDPOINT: s3.url, S3_BUCKET: bucketName },
    S3_REGION: s3Credentials.region,
    S3_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
  }
  const target = await makeDataDir(onTestFinished)
  const { code, stdout, stderr } = await corkboard(target, ['restore', '--from', archive, '--json'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({
    ...{
      from: archive,
      files: 4,
      file_bytes: 3_070_200 + segment.bytes,
      paused: true,
      revoked: false,
      sessions: 0,
    },
    access: [{ kind: 'token', id: user.tokenId, email: user.email, expires_at: null }],
  })
  expect([...bucket.objects.keys()].sort()).toEqual([...fileKeys, segment.key].sort())
  const instance = await startInstance(target, env)
  onTestFinished(() => void instance.stop())
  await expectRestored(instance)
  await instance.stop()
})
