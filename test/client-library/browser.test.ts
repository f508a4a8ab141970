/** The client in a real Chromium: without a bundler, and built by Vite with React and an offline store. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { build } from 'vite'
import { createClient, isFailure } from '../../client/index.ts'
import { makeBoard } from '../api/board.ts'
import { chromiumOfFile, openPage } from '../support/chromium.ts'
import { until } from '../support/editor.ts'
import { repository, startInstance, testDataDir } from '../support/instance.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { makeServiceAccount } from './newcomer.ts'
import { eachOf, Product, usersPerCustomer, type ProductUser } from './product.ts'
import { importMap, packedProject, serveProject } from './packed.ts'

const [{ service, user }, project, chromium] = await Promise.all([
  serviceOfFile({ debounceMs: 30 }),
  forFile(packedProject()),
  chromiumOfFile(),
])
const pages: Parameters<typeof serveProject>[1] = new Map()
const site = await forFile(serveProject(project, pages))
const slow = { timeout: 120_000 }

async function open(path: string, board: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await chromium.newPage()
  onTestFinished(() => page.close())
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(
    `${site.url}${path}#${new URLSearchParams({ service: service.url, board, token: user.token }).toString()}`,
  )
  return { page, complaints }
}

async function shows(page: Page, text: string): Promise<void> {
  try {
    await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`)
  } catch {
    expect(await page.locator('body').innerText()).toContain(text)
  }
}

/** The example, with the modules of this machine instead of those of a CDN. */
async function canvas(): Promise<string> {
  const text = await readFile(join(repository, 'docs/examples/canvas.html'), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(80)
  const map = JSON.stringify(await importMap())
  return text.replace(
    /(<script type="importmap">)[^]*?(<\/script>)/,
    (_, begin, end) => `${begin}${map}${end}`,
  )
}

test(
  '[LB30, LB32] the canvas of the examples runs without a bundler: notes, drags, presence, saved',
  slow,
  async () => {
    pages.set('/canvas', await canvas())
    const { id } = await makeBoard(user)
    const [ada, ben] = await Promise.all([open('/canvas', id), open('/canvas', id)])
    await Promise.all([ada, ben].map(({ page }) => shows(page, 'open, saved, 2 here')))
    await ada.page.mouse.dblclick(200, 150)
    await ada.page.waitForSelector('article')
    const note = await ben.page.waitForSelector('article')
    const left = async () => (await note.boundingBox())!.x
    expect(await left()).toBe(200)

    await ada.page.mouse.move(220, 160)
    await ada.page.mouse.down()
    await ada.page.mouse.move(320, 260, { steps: 5 })
    await until(async () => (await left()) === 300, 'the drag is shown')
    const stored = async () => (await user.api.get(`/boards/${id}/cards`)).body.cards[0]
    expect(await stored()).toMatchObject({ x: 200, y: 150 })
    await ada.page.mouse.up()
    await until(async () => (await stored()).x === 300, 'the drop is written')
    await until(async () => (await left()) === 300, 'the drop is shown')
    await shows(ada.page, 'open, saved, 2 here')
    expect([...ada.complaints, ...ben.complaints]).toEqual([])
  },
)

const typingRuns = Number(process.env['TYPING_RUNS'] ?? 3)

test(
  '[LB21] two people type into one text in two browsers: it converges, and no word is garbled',
  { timeout: slow.timeout + typingRuns * 10_000 },
  async () => {
    pages.set('/canvas', await canvas())
    const { id } = await makeBoard(user)
    const words = (letter: string) =>
      fc
        .array(fc.integer({ min: 1, max: 999 }), { minLength: 3, maxLength: 8 })
        .map((numbers) => numbers.map((n) => `${letter}${n}${letter}`))
    const typists = await Promise.all([open('/canvas', id), open('/canvas', id)])
    await fc.assert(
      fc.asyncProperty(words('a'), words('b'), fc.nat(100), fc.nat(100), async (hers, his, first, second) => {
        const content = 'The quick brown fox jumps over the lazy dog '
        const { body } = await user.api.post(`/boards/${id}/cards`, {
          kind: 'note',
          body: content,
          x: 0,
          y: 0,
          z: 1,
        })
        const cardId: string = body.cards[0].id
        const fields = await Promise.all(
          typists.map(async ({ page }) => {
            await until(
              async () => (await page.locator('textarea').last().inputValue()) === content,
              'the note is shown',
            )
            return page.locator('textarea').last()
          }),
        )
        const starts = [0, ...[...content.matchAll(/ /g)].map(({ index }) => index + 1)]
        await Promise.all(
          fields.map(async (field, who) => {
            const at = starts[[first, second][who]! % starts.length]!
            await field.evaluate((field, at) => {
              const text = field as unknown as {
                focus(): void
                setSelectionRange(start: number, end: number): void
              }
              text.focus()
              text.setSelectionRange(at, at)
            }, at)
            for (const word of [hers, his][who]!) await typists[who]!.page.keyboard.type(`${word} `)
          }),
        )
        const values = () => Promise.all(fields.map((field) => field.inputValue()))
        const stored = async () => (await user.api.get(`/boards/${id}/cards/${cardId}`)).body.card.body
        await until(
          async () => new Set([...(await values()), await stored()]).size === 1,
          'all show the same',
        )
        const [text] = await values()
        const typed = [...hers, ...his, ...content.trim().split(' ')]
        expect(typed.filter((word) => !text!.includes(word))).toEqual([])
        expect(text!.length).toBe(content.length + [...hers, ...his].join(' ').length + 1)
        await user.api.delete(`/boards/${id}/cards/${cardId}`)
        await Promise.all(
          typists.map(({ page }) => page.waitForFunction(`!document.querySelector('textarea')`)),
        )
      }),
      { numRuns: typingRuns },
    )
    expect(typists.flatMap(({ complaints }) => complaints)).toEqual([])
  },
)

const teamUsers = Number(process.env['TEAM_USERS'] ?? 12)

/** Opens the board of a user of the product, who is signed in there. Counts the sockets that close. */
async function openAs({ id, board }: ProductUser, service: string) {
  const context = await chromium.newContext()
  onTestFinished(() => context.close())
  await context.addCookies([{ name: 'user', value: id, url: site.url }])
  const watched = { ...(await openPage(context)), closes: 0 }
  watched.page.on('websocket', (socket) => socket.on('close', () => (watched.closes += 1)))
  await watched.page.goto(`${site.url}/team#${new URLSearchParams({ service, board }).toString()}`)
  return watched
}

test(
  '[TM1, TM2] a team gives its own users boards to edit, and removes one: out within 2 s, nobody else notices',
  { timeout: 120_000 + teamUsers * 200 },
  async () => {
    const instance = await startInstance(await testDataDir(), { DEMO: 'on' })
    onTestFinished(() => void instance.stop())
    const { workspaceId, token } = await makeServiceAccount(chromium, instance)
    const product = new Product(instance.url, token)
    await product.open(workspaceId, teamUsers)
    for (const id of product.boards) pages.set(`/boards/${id}/token`, product.answerToken)
    const ask = 'token: async () => (await (await fetch(`/boards/${id}/token`)).json()).token }'
    pages.set(
      '/team',
      (await canvas()).replace('board: id, token })', () => `board: id, ${ask})`),
    )

    const [ada, ben, ...others] = [...product.users.values()] as [ProductUser, ProductUser]
    const editors = await eachOf(others, 50, (user) => product.editorOf(user, site.url))
    onTestFinished(() => editors.forEach((editor) => editor.close()))
    const noticed: unknown[] = []
    for (const { status } of editors)
      status.subscribe(() => status.get().connection === 'open' || noticed.push(status.get()))
    const [hers, his] = await Promise.all([ada, ben].map((user) => openAs(user, instance.url)))
    const here = Math.min(usersPerCustomer, teamUsers)
    for (const { page } of [hers!, his!]) await shows(page, `open, saved, ${here} here`)

    await hers!.page.mouse.dblclick(600, 450)
    const fields = [hers!, his!].map(({ page }) => page.locator('textarea').first())
    await Promise.all(
      fields.map((field, n) => field.pressSequentially(['Ada wrote this. ', 'Ben too. '][n]!)),
    )
    const texts = async () => [
      ...(await Promise.all(fields.map((field) => field.inputValue()))),
      editors[0]!.cards.get().find(({ body }) => body !== '')?.body,
    ]
    await until(async () => new Set(await texts()).size === 1, 'all show the same text')
    expect((await texts())[0]!.length).toBe('Ada wrote this. Ben too. '.length)
    const write = (title: string) =>
      Promise.all(
        editors.map((editor) => {
          editor.cards.add({ kind: 'note', title, x: 900, y: 900 })
          return editor.saved()
        }),
      )
    await write('before')
    await until(
      async () => (await product.usersInHistories()).size === teamUsers,
      'the history knows all users by the ids of the product',
      30_000,
    )
    expect(await product.usersOn(ada.board)).toHaveLength(here)

    const bens = createClient({ url: instance.url, token: product.minted.get(ben.id)! })
    const isOut = () =>
      bens.request('GET /me').then(
        () => false,
        (error) => isFailure(error, 'invalid_token'),
      )
    const removedAt = performance.now()
    await product.remove(ben.id)
    const took = async (what: string, is: () => boolean | Promise<boolean>) => {
      await until(is, what, 2000)
      return `${what} after ${Math.round(performance.now() - removedAt)} ms`
    }
    const told = await Promise.all([
      took('the API refuses the user', isOut),
      took('the socket is closed', () => his!.closes === 1),
    ])
    if (process.env['TEAM_USERS']) process.stderr.write(`${teamUsers} users: ${told.join(', ')}\n`)
    await shows(his!.page, 'Get a new one')
    await shows(hers!.page, `open, saved, ${here - 1} here`)
    await fields[0]!.pressSequentially('And on.')
    await write('after')
    await until(async () => (await texts()).at(-1)!.includes('And on.'), 'the others see it')
    expect([hers!.closes, noticed]).toEqual([0, []])
    expect(await product.usersOn(ada.board)).not.toContain(ben.id)
    expect(hers!.complaints).toEqual([])
  },
)

const app = `
import { createElement as h, memo } from 'react'
import { createRoot } from 'react-dom/client'
import { IndexeddbPersistence } from 'y-indexeddb'
import { useBody, useBoard, useCard, useCards, useSaveStatus, useUndo } from '@corkboard/client/react'

const { service, board: id, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
window.renders = {}

function App() {
  const board = useBoard({ url: service, board: id, token, store: (name, document) => new IndexeddbPersistence(name, document) })
  window.board = board
  return board && h(Board, { board })
}
function Board({ board }) {
  const { connection, saved } = useSaveStatus(board)
  const { canUndo, undo } = useUndo(board)
  const cards = useCards(board)
  return h('main', null,
    h('output', null, connection, saved ? ' saved' : ' unsaved'),
    h('button', { onClick: undo, disabled: !canUndo }, 'Undo'),
    cards.map(({ id }) => h(Note, { key: id, board, id })),
  )
}
const Note = memo(({ board, id }) => {
  const card = useCard(board, id)
  const ref = useBody(board, id)
  window.renders[id] = (window.renders[id] ?? 0) + 1
  return h('section', null, h('h2', null, card?.title), h('textarea', { ref }))
})
createRoot(document.querySelector('#root')).render(h(App))
`

test(
  '[LB30, LB31, LB26] under Vite, hooks show a board and its save status, and what was typed offline survives a reload',
  slow,
  async () => {
    await writeFile(join(project.folder, 'app.js'), app)
    await writeFile(
      join(project.folder, 'app.html'),
      '<div id="root"></div><script type="module" src="./app.js"></script>',
    )
    await build({
      root: project.folder,
      logLevel: 'error',
      configFile: false,
      build: { outDir: 'built', minify: false, rollupOptions: { input: join(project.folder, 'app.html') } },
    })
    pages.set(
      '/app',
      (await readFile(join(project.folder, 'built/app.html'), 'utf8')).replaceAll(
        '"/assets',
        '"/built/assets',
      ),
    )
    const { id } = await makeBoard(user)
    const { body } = await user.api.post(`/boards/${id}/cards`, {
      cards: [
        { kind: 'note', title: 'One', body: 'Hello' },
        { kind: 'note', title: 'Two' },
      ],
    })
    const [one, two] = body.cards.map(({ id }: { id: string }) => id)
    const { page, complaints } = await open('/app', id)
    await shows(page, 'open saved')
    await shows(page, 'Two')
    const text = page.locator('textarea').first()
    expect(await text.inputValue()).toBe('Hello')
    const rendersOfTwo = await page.evaluate<number>(`renders['${two}']`)
    await text.press('End')
    await text.pressSequentially(' world')
    await user.api.patch(`/boards/${id}/cards/${one}`, { title: 'One now' })
    await shows(page, 'One now')
    expect(await page.evaluate(`renders['${two}']`)).toBe(rendersOfTwo)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await text.inputValue()).toBe('Hello')
    await shows(page, 'open saved')

    await page.evaluate(`board.provider.configuration.websocketProvider.disconnect()`)
    const stored = () => page.evaluate(countStored, `corkboard:${id}`)
    const before = await stored()
    await text.press('End')
    await text.pressSequentially(', offline')
    await shows(page, 'unsaved')
    await until(async () => (await stored()) >= before + ', offline'.length, 'the device has each letter')
    await page.reload()
    await shows(page, 'open saved')
    expect(await text.inputValue()).toBe('Hello, offline')
    const { body: read } = await user.api.get(`/boards/${id}/cards/${one}`)
    expect(read.card.body).toBe('Hello, offline')
    expect(complaints).toEqual([])
  },
)

/** How many updates the offline store of a board has. */
const countStored = (name: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { indexedDB } = globalThis as any
    const opening = indexedDB.open(name)
    opening.addEventListener('error', () => reject(opening.error))
    opening.addEventListener('success', () => {
      const counting = opening.result.transaction('updates').objectStore('updates').count()
      counting.addEventListener('success', () => {
        opening.result.close()
        resolve(counting.result)
      })
    })
  })
