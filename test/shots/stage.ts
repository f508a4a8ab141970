/** What the pictures show: a service with a demo board, boards of many kinds, and people. */
import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createClient } from '../../client/index.ts'
import { fillDemoBoard } from '../../server/demo-board.ts'
import { makeDemo } from '../../server/demo.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { linkUrl } from '../../server/link-url.ts'
import { openEgress } from '../../platform/egress/egress.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { ApiClient } from '../support/http.ts'
import { openEditor } from '../support/editor.ts'
import { silence } from '../support/silence.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

export interface Stage {
  service: TestService
  /** The owner of everything. */
  ada: TestUser
  /** Ids of boards by what is on them. */
  boards: Record<'demo' | 'kinds' | 'empty' | 'shared' | 'trash', string>
  /** Somebody who may see `shared` alone. */
  guest: TestUser
  /** Shows a person and an agent at work on the demo board, until `leave` is called. */
  others(): Promise<{ leave(): void }>
  /** The address of a guest link. */
  guestLink: string
  page: Page
  /** Opens a board and waits until it is shown. */
  open(board: string): Promise<void>
  /** Signs in as somebody else in this window, and opens a board. */
  openAs(user: Pick<TestUser, 'userId'>, board: string): Promise<void>
}

export type Scenery = Omit<Stage, 'page' | 'open' | 'openAs'> & { close(): Promise<void> }

export async function openScenery(chromium: Browser): Promise<Scenery> {
  const config = { logLevel: 'error', documentBytes: { free: 10_000, pro: 1e9 } } as const
  const service = await startService({ workers: false, egress: openEgress({ allow: ['127.0.0.1'] }), config })
  const demo = (await makeDemo(service.database))!
  await fillDemoBoard(demo, service.homeUrl)
  const ada = await adaOf(service, demo.token)
  const workspace = { workspace_id: ada.workspaceId }
  const [kinds, empty, shared, trash] = await Promise.all(
    ['All kinds', 'New plans', 'Shared', 'Old ideas'].map((name) => makeBoard(ada, { ...workspace, name })),
  )
  await fillKinds(service, ada, kinds!.id, await film(chromium))
  await makeCards(ada, shared!.id, [
    { title: 'For you', body: 'You may look, but not change.', color: '#93c47d' },
  ])
  const guest = await userOf(service, 'Ben Ito')
  await service.share(shared!.id, guest, 'viewer')
  await ada.api.delete(`/boards/${trash!.id}`)
  const { body: link } = await ada.api.post(`/boards/${shared!.id}/links`, {
    role: 'viewer',
    name: 'Printers',
  })
  const others = await othersOn(service, ada, demo.boardId)
  const boards = {
    demo: demo.boardId,
    kinds: kinds!.id,
    empty: empty!.id,
    shared: shared!.id,
    trash: trash!.id,
  }
  const guestLink = `${service.homeUrl}/app/open#${link.token}`
  return { service, ada, boards, guest, others, guestLink, close: () => service.stop() }
}

/** With an address like those of people. */
async function userOf(service: TestService, name: string): Promise<TestUser> {
  const user = await service.user({ name })
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
  await service.database.asSystem((tx) => tx`update users set email = ${email} where id = ${user.userId}`)
  return user
}

async function othersOn(service: TestService, ada: TestUser, boardId: string): Promise<Stage['others']> {
  const cleo = await userOf(service, 'Cleo Marsh')
  await service.member(ada.workspaceId, cleo, 'editor')
  const importer = { workspace_id: ada.workspaceId, name: 'Importer', scopes: ['write'] }
  const { body: robot } = await ada.api.post('/service-accounts', importer)
  const { cards } = (await ada.api.get(`/boards/${boardId}/cards`)).body
  const onTheDay = cards.find(({ title }: { title: string }) => title === 'On the day')
  return async () => {
    const [person, agent] = await Promise.all(
      [cleo.token, robot.access_token].map((token) => openEditor(service.homeUrl, { boardId, token })),
    )
    const [here, there] = [person!, agent!].map(({ provider }) => provider)
    here!.setAwarenessField('cursor', { x: onTheDay.x + 190, y: onTheDay.y + 84 })
    here!.setAwarenessField('selection', [onTheDay.id])
    there!.setAwarenessField('cursor', { x: 700, y: 318 })
    return {
      leave() {
        person!.leave()
        agent!.leave()
      },
    }
  }
}

async function adaOf(service: TestService, token: string): Promise<TestUser> {
  const api = new ApiClient(service.homeUrl, token)
  const { body: me } = await api.get('/me')
  const { workspaces } = (await api.get('/workspaces')).body
  return { userId: me.user_id, workspaceId: workspaces[0].id, email: me.email, token, tokenId: '', api }
}

const place = (column: number, row: number) => ({ x: column * 320, y: row * 240, w: 300, h: 220 })

async function fillKinds(service: TestService, ada: TestUser, boardId: string, walk: Buffer): Promise<void> {
  const editor = await openEditor(service.homeUrl, { boardId, token: ada.token })
  const client = createClient({ url: service.homeUrl, token: ada.token })
  const upload = async (bytes: Buffer | string, type: string) => {
    const file = new Blob([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], { type })
    return (await client.upload(file, { board: boardId })).image_key
  }
  const lake = await readFile(new URL('../../server/demo-picture.webp', import.meta.url))
  const image_key = await upload(lake, 'image/webp')
  const file_key = await upload('%PDF-1.4', 'application/pdf')
  const film_key = await upload(walk, 'video/webm')
  const sound_key = await upload(silence(), 'audio/wav')
  await makeCards(ada, boardId, [
    {
      section_header: true,
      title: 'Everything a board can hold',
      sub: 'One card of each kind',
      x: 0,
      y: -120,
      w: 1260,
      h: 96,
    },
    {
      ...{ title: 'Note', color: '#ffd966', ...place(0, 0) },
      body: 'Text in **Markdown**, with\n\n- lists\n- `code`\n- [links](https://example.com)\n\n> and quotes',
    },
    { kind: 'image', image_key, alt: 'A lake between mountains', ...place(1, 0) },
    {
      ...{ kind: 'link', title: 'How tides work', url: 'https://example.com/tides', ...place(2, 0) },
      body: 'The moon pulls at the sea, and the sea follows: twice a day, a little later each time.',
    },
    {
      ...{ kind: 'doc', title: 'Minutes of Monday', ...place(3, 0) },
      ...{
        body: 'Minutes',
        html: '<p>Present: <b>Ada</b>, Ben.</p><ol><li>The budget is approved.</li><li>The launch moves to May.</li></ol>',
      },
    },
    { kind: 'video', title: 'A walk on the beach', file_key: film_key, ...place(0, 1) },
    {
      kind: 'audio',
      title: 'Interview',
      file_key: sound_key,
      body: 'The first ten minutes, without the noise.',
      ...place(1, 1),
    },
    {
      kind: 'pdf',
      file_key,
      file_name: 'Contract 2026.pdf',
      ext: 'pdf',
      size_bytes: 1_250_000,
      ...place(2, 1),
    },
    { kind: 'file', file_key, file_name: 'figures.xlsx', ext: 'xlsx', size_bytes: 48_000, ...place(3, 1) },
  ])
  editor.addCard('gone', { kind: 'image', image_key: 'fAAAAAAAAAAAAAAAAAAAAAAAA.png', ...place(0, 2) })
  editor.addCard('own', {
    kind: 'palette',
    title: 'Colours of the brand',
    body: 'Made by another editor',
    ...place(1, 2),
  })
  await editor.saved()
  editor.leave()
}

/** A second of film, made by the browser. */
async function film(chromium: Browser): Promise<Buffer> {
  const page = await chromium.newPage()
  const base64 = await page.evaluate<string>(`(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 })
    const paint = canvas.getContext('2d')
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' })
    const parts = []
    recorder.ondataavailable = ({ data }) => parts.push(data)
    recorder.start()
    for (let frame = 0; frame < 20; frame++) {
      paint.fillStyle = '#2f6f8f'
      paint.fillRect(0, 0, 640, 360)
      paint.fillStyle = '#f2d9a0'
      paint.fillRect(0, 240, 640, 120)
      paint.beginPath()
      paint.arc(200 + 10 * frame, 120, 50, 0, 7)
      paint.fill()
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    await new Promise((resolve) => {
      recorder.onstop = resolve
      recorder.stop()
    })
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  })()`)
  await page.close()
  return Buffer.from(base64, 'base64')
}

export async function openStage(scenery: Scenery, context: BrowserContext): Promise<Stage> {
  const page = await context.newPage()
  const { service } = scenery
  const goTo = async (board: string) => {
    await page.goto(`${service.homeUrl}/app/boards/${board}`)
    await page.locator('.react-flow, .list, [role=alert]').first().waitFor()
  }
  const stage: Stage = {
    ...scenery,
    page,
    open: goTo,
    async openAs({ userId }, board) {
      await page.context().clearCookies()
      const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId, hours: 1 }))
      await page.goto(linkUrl(service.homeUrl, code, `/app/boards/${board}`))
      await page.getByRole('button', { name: 'Open the board' }).click()
      await page.waitForURL('**/app/boards/*')
      await page.locator('.react-flow, .list, [role=alert]').first().waitFor()
    },
  }
  await stage.openAs(scenery.ada, scenery.boards.demo)
  return stage
}
