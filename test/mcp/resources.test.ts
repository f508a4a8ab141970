import { expect, test } from 'vitest'
import { makeBoard, makeCards, nowhere } from '../api/board.ts'
import { openAgent } from '../support/mcp.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })

const textOf = ({ contents }: { contents: object[] }) => (contents[0] as { text: string }).text

test.each(['auto', 'legacy'] as const)(
  '[MC16] the boards that one can see are resources, by pages (%s)',
  async (mode) => {
    const own = await service.user()
    const { body } = await own.api.post('/boards', {
      boards: Array.from({ length: 60 }, (_, n) => ({ name: `Board ${n}` })),
    })
    const { client } = await openAgent(service.url, own.token, mode)
    const first = await client.listResources({ cursor: 'offset:0' })
    expect(first.resources).toHaveLength(50)
    expect(first.resources[0]).toMatchObject({
      title: expect.stringMatching(/^Board \d+$/),
      mimeType: 'text/markdown',
    })
    // The client goes on by itself to the last page.
    const { resources } = await client.listResources()
    // Boards of one batch are as old as each other.
    expect(resources.map(({ uri }) => uri).toSorted()).toEqual(
      body.boards.map(({ id }: any) => `board://${id}`).toSorted(),
    )
    await expect(client.listResources({ cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate, mimeType])).toEqual([
      ['board://{id}', 'text/markdown'],
      ['board://{id}/json', 'application/json'],
    ])
  },
)

test(
  '[MC16] a board reads as Markdown and as JSON, with its groups and its cards',
  { timeout: 120_000 },
  async () => {
    const board = await makeBoard(user, { name: 'Wall' })
    const { body } = await user.api.post(`/boards/${board.id}/groups`, { name: 'Ideas' })
    const [card] = await makeCards(user, board.id, [
      { kind: 'link', url: 'https://example.test/', title: 'First', body: 'one', group_id: body.group.id },
    ])
    const { client } = await openAgent(service.url, user.token)
    const markdown = textOf(await client.readResource({ uri: `board://${board.id}` }))
    for (const part of [
      `# Board ${board.id}`,
      '> Wall',
      `### Group ${body.group.id}, 1 cards`,
      '> Ideas',
      '## Cards (1 of 1)',
      `### Card ${card!.id}: link at 0, 0, 280 × 180, in group ${body.group.id}`,
      '> First',
      '> https://example.test/',
      '> one',
    ])
      expect(markdown).toContain(part)
    const json = JSON.parse(textOf(await client.readResource({ uri: `board://${board.id}/json` })))
    expect(json).toMatchObject({
      board: { id: board.id, name: 'Wall' },
      groups: [{ id: body.group.id, name: 'Ideas' }],
      cards: [{ id: card!.id, title: 'First', body: 'one' }],
      total: 1,
      next_offset: null,
    })
  },
)

test(
  '[MC16] of a large board the first cards are shown, with how to read on',
  { timeout: 120_000 },
  async () => {
    const board = await makeBoard(user)
    await makeCards(
      user,
      board.id,
      Array.from({ length: 300 }, () => ({ body: 'x'.repeat(3000) })),
    )
    const agent = await openAgent(service.url, user.token)
    const markdown = textOf(await agent.client.readResource({ uri: `board://${board.id}` }))
    expect(markdown.length).toBeLessThan(80_000)
    const [, more, offset] = /(\d+) more: call the tool read_cards .* and offset (\d+)\./.exec(markdown)!
    expect(Number(more) + Number(offset)).toBe(300)
    expect(markdown).toContain('The text is cut. Read all of it with read_card.')
    const json = JSON.parse(textOf(await agent.client.readResource({ uri: `board://${board.id}/json` })))
    expect(json.next_offset).toBe(json.cards.length)
    const next = await agent.does('read_cards', { board_id: board.id, offset: json.next_offset })
    expect(next.cards[0].id).not.toBe(json.cards.at(-1).id)
  },
)

test(
  '[MC16] a board that is not there, or not one’s to see, is the same refusal',
  { timeout: 120_000 },
  async () => {
    const stranger = await service.user()
    const board = await makeBoard(user)
    const { client } = await openAgent(service.url, stranger.token)
    for (const uri of [
      `board://${board.id}`,
      `board://${nowhere}/json`,
      'board://x',
      'board://',
      'file:///etc/passwd',
    ])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } })
  },
)

test(
  '[MC17] prompts name the tools and the board, and what is missing or wrong in them is told',
  { timeout: 120_000 },
  async () => {
    const { client } = await openAgent(service.url, user.token)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['sort_board', 'summarise_wall', 'collect_links'])
    const tools = new Set((await client.listTools()).tools.map(({ name }) => name))
    for (const { name, arguments: asked = [] } of prompts) {
      const given = Object.fromEntries(
        asked.map((one) => [one.name, one.name === 'board_id' ? nowhere : `"quoted"\n${one.name}`]),
      )
      const { messages } = await client.getPrompt({ name, arguments: given })
      const [{ role, content }] = messages as unknown as [{ role: string; content: { text: string } }]
      expect(role).toBe('user')
      for (const [word] of content.text.matchAll(/\b[a-z]+_(?:board|boards|card|cards|group|groups)\b/g))
        expect([name, word, tools.has(word)]).toEqual([name, word, true])
      for (const value of Object.values(given))
        expect(content.text).toContain(JSON.stringify(value).slice(1, -1))
      for (const { name: left } of asked.filter((one) => one.required)) {
        const { [left]: _left, ...rest } = given
        await expect(client.getPrompt({ name, arguments: rest })).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining(`${left} is required`),
        })
      }
    }
    await expect(
      client.getPrompt({ name: 'sort_board', arguments: { board_id: 'x' } }),
    ).rejects.toMatchObject({
      code: -32602,
    })
  },
)
