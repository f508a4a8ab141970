import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { openSite, png as pngHead, serves, type Site } from '../support/site.ts'
import { makeBoard, nowhere, succeeded } from './board.ts'
import { sendParts, upload } from './file.ts'

let service: TestService
let user: TestUser
let site: Site
let boardId: string

beforeAll(async () => {
  service = await startService({ workers: false, config: { egressAllow: ['127.0.0.1/32'] } })
  user = await service.user()
  site = await openSite()
  boardId = (await makeBoard(user)).id
})
afterAll(async () => {
  await service.stop()
  await site.close()
})

/** What was told since, the oldest first. */
async function told(work: () => Promise<unknown>): Promise<unknown[]> {
  const [before] = await service.admin`select coalesce(max(id), 0) as id from audit_operations`
  await work()
  const entries = await service.admin`
    select action, status, resource_type as type, resource_ids[1] as id, coalesce(board_id::text, resource_ids[1]) as board, workspace_id as workspace
    from audit_operations as e where e.id > ${before!['id']} order by e.id`
  return [...entries]
}
const entry = (action: string, status: number, type: string, id: string) => ({
  action,
  status,
  type,
  id,
  board: boardId,
  workspace: user.workspaceId,
})

test('[AU10] an upload is told when its file is recorded; one that is refused is not', async () => {
  let key = ''
  expect(await told(async () => (key = (await upload(service, user, boardId)).body.image_key))).toEqual([
    entry('upload.create', 201, 'image', key),
  ])
  const refused = await told(async () => {
    const answers = [
      await upload(service, user, boardId, Buffer.from('no image')),
      await upload(service, user, boardId, Buffer.from('a,b'), 'text/csv'),
      await upload(service, user, nowhere),
    ]
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 404])
  })
  expect(refused).toEqual([])
})

test('[AU10] an upload in parts is told when it begins, is completed and is aborted, once each', async () => {
  const begin = async () => {
    const { key, upload_id } = succeeded(
      await user.api.post(`/uploads/multipart?board=${boardId}`, { bytes: 5 }),
    )
    return { board_id: boardId, key, upload_id }
  }
  let session!: Awaited<ReturnType<typeof begin>>
  expect(await told(async () => (session = await begin()))).toEqual([
    entry('upload.multipart', 201, 'upload', session.key),
  ])
  const parts = await sendParts(user, session, Buffer.from('hello'), 8 * 1024 * 1024, [1])
  const complete = () => user.api.post('/uploads/multipart/complete', { ...session, parts })
  expect(await told(complete)).toEqual([entry('upload.multipart_complete', 201, 'image', session.key)])
  expect(await told(complete)).toEqual([])
  const other = await begin()
  expect(await told(() => user.api.post('/uploads/multipart/abort', other))).toEqual([
    entry('upload.multipart_abort', 200, 'upload', other.key),
  ])
})

test('[AU10] an import tells of each file that it stores, and of the board', async () => {
  site.pages.set('/a', serves(pngHead(30, 20)))
  site.pages.set('/page', serves('<!doctype html><title>A page</title>', 'text/html'))
  let image = ''
  const entries = await told(async () => {
    const items = [{ url: `${site.url}/a` }, { url: `${site.url}/page` }]
    const { cards } = succeeded(await user.api.post(`/boards/${boardId}/import`, { items }))
    image = cards[0].image_key
  })
  expect(entries).toEqual([
    entry('board.import', 200, 'image', image),
    entry('board.import', 200, 'board', boardId),
  ])
})
