/** The app while the service is killed: `kill -9`, and a minute without it. */
import { afterAll, expect, test } from 'vitest'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { ApiClient } from '../support/http.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { card, eventually, keepTyping, openAs, state, type Window } from './app.ts'

const awayMs = 60_000

const service = await ServiceProcess.make()
afterAll(() => service.remove())
service.launch()
await service.ready()
const [ada, ben] = await service.withDatabase((database) =>
  database.asSystem(async (tx) => {
    const add = (name: string) => addUser(tx, { email: `${name}@example.test`, name, tier: 'pro' })
    const [ada, ben] = [await add('Ada'), await add('Ben')]
    await tx`
      insert into workspace_members (workspace_id, user_id, role) values (${ada.workspaceId}, ${ben.userId}, 'editor')`
    const { token } = await mintToken(tx, { userId: ada.userId, name: 'test', scopes: ['read', 'write'] })
    return [{ ...ada, api: new ApiClient(service.url, token) }, ben] as const
  }),
)
const { board } = (await ada.api.post('/boards', { name: 'Letters' })).body

test(
  '[WB18] two people type while the service is killed, and for a minute without it: no letter is lost',
  { timeout: awayMs + 120_000 },
  async () => {
    await ada.api.post(`/boards/${board.id}/cards`, {
      kind: 'note',
      title: 'Letter',
      body: ' | ',
      x: 0,
      y: 0,
    })
    const windows = await service.withDatabase(async (database) => [
      await openAs({ database, homeUrl: service.url }, ada, board.id),
      await openAs({ database, homeUrl: service.url }, ben, board.id),
    ])
    const people = await Promise.all(windows.map(({ page }, at) => typing(page, at === 0 ? 'start' : 'end')))
    for (const person of people) await eventually(() => person.typed.length).toBeGreaterThan(10)
    await service.kill()
    for (const { page } of windows) await eventually(() => state(page).textContent()).toMatch(/^Offline/)
    const counts = people.map((person) => person.typed.length)
    await new Promise((resolve) => setTimeout(resolve, awayMs))
    for (const [at, person] of people.entries()) expect(person.typed.length).toBeGreaterThan(counts[at]! + 50)
    for (const { page } of windows) expect(await state(page).textContent()).toMatch(/^Offline/)
    service.launch()
    await service.ready()
    await Promise.all(people.map((person) => person.stop()))
    // The stock provider waits for up to half a minute between attempts.
    for (const { page } of windows)
      await expect.poll(() => state(page).textContent(), { timeout: 45_000 }).toBe('Saved')

    const whole = `${people[0]!.typed} | ${people[1]!.typed}`
    const { body } = (await ada.api.get(`/boards/${board.id}/cards`)).body.cards[0]
    expect(body).toBe(whole)
    for (const person of people) await eventually(() => person.field.inputValue()).toBe(whole)
  },
)

/** Types into the card: before what is there, or after it. */
async function typing(page: Window['page'], where: 'start' | 'end') {
  await card(page, 'Letter').dblclick()
  const field = page.getByRole('textbox', { name: 'Text of Letter' })
  await field.waitFor()
  await field.evaluate(
    (text: any, at) => text.setSelectionRange(...(at === 'start' ? [0, 0] : [99, 99])),
    where,
  )
  return Object.assign(keepTyping(field), { field })
}
