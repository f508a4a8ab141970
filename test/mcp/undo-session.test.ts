/** An agent's session: it reorganises a board badly while a person types, and takes all of it back. */
import { expect, test } from 'vitest'
import type * as Y from 'yjs'
import { listCards, makeBoard, makeCards, succeeded, type Shown } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import { openAgent } from '../support/mcp.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20 })

test('[HU10] an agent reorganises a board badly while a person types; undo_my_changes brings all back but what the person typed', async () => {
  const { id: board_id } = await makeBoard(user)
  const { group } = succeeded(await user.api.post(`/boards/${board_id}/groups`, { name: 'Old' }))
  const cards = await makeCards(
    user,
    board_id,
    Array.from({ length: 12 }, (_, n) => ({
      ...{ title: `Card ${n}`, body: `words of ${n}`, color: '#ffd966', props: { n } },
      ...(n < 4 ? { group_id: group.id } : {}),
    })),
  )
  const ids = cards.map((card) => card.id)
  const rawOf = async () => {
    await service.flush(board_id)
    const listed = await listCards(user, board_id, '&include=raw')
    return Object.fromEntries(listed.map(({ id, raw }) => [id, raw]))
  }
  const groupsOf = async () => (await user.api.get(`/boards/${board_id}/groups`)).body.groups as Shown[]
  const [before, groups] = [await rawOf(), await groupsOf()]

  const robot = succeeded(
    await user.api.post('/service-accounts', {
      workspace_id: user.workspaceId,
      name: 'Robot',
      scopes: ['read', 'write', 'delete'],
    }),
  )
  const agent = await openAgent(service.url, robot.access_token)
  const person = await openEditor(service.url, { boardId: board_id, token: user.token })
  const bodyOf = (id: string) => person.cards.get(id)!.get('body') as Y.Text
  const type = async (id: string, words: string) => {
    bodyOf(id).insert(bodyOf(id).length, words)
    await person.saved()
  }
  const since = new Date().toISOString()

  await agent.does('arrange_cards', { board_id, layout: 'column' })
  await type(ids[5]!, ' and more')
  await agent.does('ungroup', { board_id, group_id: group.id })
  const made = await agent.does('create_group', { board_id, name: 'New order' })
  await agent.does('update_cards', {
    board_id,
    cards: ids.map((id, n) => ({ id, title: `${n}`, color: '#000000', group_id: made.group.id })),
  })
  await until(() => person.cards.get(ids[6]!)!.get('title') === '6', 'the person sees the title')
  person.cards.get(ids[6]!)!.set('title', 'Mine')
  await person.saved()
  await agent.does('update_cards', { board_id, cards: [{ id: ids[7]!, body: 'Summary', props: null }] })
  await until(() => String(bodyOf(ids[7]!)) === 'Summary', 'the person sees the summary')
  await type(ids[7]!, ', says who?')
  const { cards: summaries } = await agent.does('create_cards', {
    board_id,
    cards: [
      { kind: 'note', title: 'Summary' },
      { kind: 'note', title: 'Sources' },
    ],
  })
  await until(() => person.cards.has(summaries[1].id), 'the person sees the cards')
  await type(summaries[1].id, 'A source of mine')
  await agent.does('delete_cards', { board_id, card_ids: ids.slice(8) })
  person.addCard('of-the-person', { title: 'Note to self' })
  await person.saved()

  const asked = { board_id, since }
  const dry = await agent.does('undo_my_changes', { ...asked, dry_run: true })
  const undone = await agent.does('undo_my_changes', asked)
  expect(undone.undone.map(({ id }: Shown) => id)).toEqual(dry.undone.map(({ id }: Shown) => id))
  expect(undone.not_undone.map(({ id, fields, reason }: Shown) => [id, fields, reason])).toEqual(
    expect.arrayContaining([
      [ids[6], ['title'], 'changed_since'],
      [ids[7], ['body'], 'changed_since'],
      [summaries[1].id, [], 'changed_since'],
    ]),
  )
  expect(undone.not_undone).toHaveLength(3)

  const now = await rawOf()
  expect(await groupsOf()).toEqual(groups)
  const { [summaries[1].id]: source, 'of-the-person': own, ...left } = now
  expect(source).toMatchObject({ title: 'Sources', body: 'A source of mine' })
  expect(own).toMatchObject({ title: 'Note to self' })
  expect(left).toEqual({
    ...before,
    [ids[5]!]: { ...before[ids[5]!], body: 'words of 5 and more' },
    [ids[6]!]: { ...before[ids[6]!], title: 'Mine' },
    [ids[7]!]: { ...before[ids[7]!], body: 'Summary, says who?' },
  })
  const isBack = () => ids.every((id) => person.cards.get(id)?.get('x') === before[id].x)
  await until(isBack, 'the canvas shows it')
  expect(String(bodyOf(ids[5]!))).toBe('words of 5 and more')
  person.leave()
})
