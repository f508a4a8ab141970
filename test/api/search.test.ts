import { expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, nowhere, succeeded } from './board.ts'
import { makeFiles } from './file.ts'
import { ids, searchesBy } from './searching.ts'

const { service, user } = await serviceOfFile({ workers: false })

const { find, cardIds, boardIds } = searchesBy(user)

test('[Q1] boards are found by name, cards by title and body, each list with its page; a kind leaves the other empty', async () => {
  const board = await makeBoard(user, { name: 'Harbour survey' })
  const { props: _, identifiers: __, ...listed } = board as Record<string, unknown>
  const card = await makeCard(user, board.id, { title: 'Pier', body: 'Cranes of the old harbour' })
  const page = { limit: 100, offset: 0, has_more: false, next_offset: null }
  const boards = { items: [listed], ...page }
  const excerpt = 'Cranes of the old harbour'
  const hit = {
    id: card.id,
    board_id: board.id,
    kind: 'note',
    title: 'Pier',
    excerpt,
    updated_at: card['updated_at'],
  }
  const cards = { items: [hit], ...page }
  expect(await find('  harbour ')).toEqual({ query: 'harbour', boards, cards })
  expect(await find('harbour', '&kind=card')).toEqual({
    query: 'harbour',
    boards: { items: [], ...page },
    cards,
  })
  expect(await find('harbour', '&kind=board')).toEqual({
    query: 'harbour',
    boards,
    cards: { items: [], ...page },
  })
  await makeFiles(service, board, ['k'])
  const untitled = await makeCard(user, board.id, { title: null, body: null, kind: 'audio', file_key: 'k' })
  expect(await cardIds('audio')).not.toContain(untitled.id)
})

test('[Q2] a query that is too short or too long, and a filter that is none, are 400 and named', async () => {
  const refused: [string, string][] = [
    ['', 'q'],
    ['?q=', 'q'],
    ['?q=a', 'q'],
    ['?q=%20a%20', 'q'],
    ['?q=%20%20%20%20', 'q'],
    ['?q=e%CC%81', 'q'],
    ['?q=%C3%9F', 'q'],
    ['?q=a%E2%80%8B', 'q'],
    [`?q=${'a'.repeat(201)}`, 'q'],
    ['?q=a%00b', 'q'],
    ['?q=aa&q=bb', 'q'],
    ['?q=aa&kind=cards', 'kind'],
    ['?q=aa&workspace=1', 'workspace'],
    ['?q=aa&limit=0', 'limit'],
    ['?q=aa&limit=501', 'limit'],
    ['?q=aa&offset=-1', 'offset'],
    ['?q=aa&offset=x', 'offset'],
  ]
  for (const [query, field] of refused) {
    const answer = await user.api.get(`/search${query}`)
    expect([query, answer.status, answer.body['code']]).toEqual([query, 400, 'bad_request'])
    expect([query, answer.body['error']]).toEqual([
      query,
      expect.stringMatching(new RegExp(`\\b${field}\\b`)),
    ])
  }
  for (const q of [
    '😀😀',
    'a'.repeat(200),
    '😀'.repeat(200),
    '\\'.repeat(200),
    '(a+)+'.repeat(40),
    "';--",
    '.*',
    '"a" & !b:*',
  ])
    expect(await find(q)).toMatchObject({ query: q })
  expect((await service.anonymous.get('/search?q=aa')).status).toBe(401)
})

test('[Q3] any part of two characters or more is found, in any script, and the signs of patterns stand for themselves', async () => {
  const board = await makeBoard(user)
  const texts: Record<string, string[]> = {
    'Straße nach Besançon': ['STRASSE', 'strasse', 'besancon', 'ßE N', 'ç', 'çon', 'aß'].filter(
      (q) => q.length > 1,
    ),
    'İstanbul ve Diyarbakır': ['istanbul', 'ISTANBUL', 'diyarbakir', 'DIYARBAKIR', 'ır'],
    'Ёлка и Йога': ['елка', 'ЁЛКА', 'лк', 'ИОГА'],
    東京タワー展望台: ['東京', '京タ', 'タワー', '展望'],
    ガラス: ['ガラ', 'ｶﾞﾗｽ'],
    '한국어 검색': ['한국', '국어', '검색'],
    'مُحَمَّد والكتاب': ['محمد', 'كتا', 'وال'],
    'हिन्दी में': ['हिन्दी', 'न्दी'],
    สวัสดีครับ: ['สวัส', 'ครับ'],
    ΟΔΥΣΣΕΥΣ: ['οδυσσεύς', 'ευσ'],
    'launch 🚀🎉 party': ['🚀🎉', '🎉 p'],
    'cafe\u0301 noir': ['café', 'CAFÉ', 'fé n', 'cafe'],
    'ﬁnal ①② ＡＢＣ': ['final', '12', 'abc'],
    'smørrebrød œuvre Łódź': ['smorrebrod', 'oeuvre', 'lodz'],
    '100% sure_thing C:\\temp (a|b) [x] a*b': ['0%', 'e_t', ':\\t', '\\temp', '(a|b)', '[x]', 'a*b'],
    "don't; drop 'table'": ["n't", "'table'", '; d'],
    'Line one\r\n\tline\u00a0two': ['one line', 'line two'],
    'a b c': ['a b', 'b c'],
    'co\u00adoperate': ['cooperate'],
  }
  const cards = await makeCards(
    user,
    board.id,
    Object.keys(texts).map((body) => ({ body })),
  )
  for (const [n, [body, queries]] of Object.entries(texts).entries())
    for (const q of queries)
      expect([body, q, await cardIds(q)]).toEqual([body, q, expect.arrayContaining([cards[n]!.id])])
  for (const [q, n] of [
    ['か', 4],
    ['0_', 14],
    ['e%t', 14],
    ['sure.thing', 14],
    ['ガス', 4],
  ] as [string, number][])
    if (q.length > 1) expect([q, await cardIds(q)]).toEqual([q, expect.not.arrayContaining([cards[n]!.id])])
  expect(await cardIds('からす')).toEqual([]) // another letter, not an accent
  await makeBoard(user, { name: 'Größe Ørsted' })
  expect(await boardIds('grosse orst')).toHaveLength(1)
  expect(await boardIds('øR')).toHaveLength(1)
})

test('[Q4] all words must occur, and the best match comes first: title before body, whole, beginning, word, part; then the newest', async () => {
  const board = await makeBoard(user)
  const [words, part, bodyPart, bodyWord, titleWords, inTitle, wordInTitle, begins, exact, exactLater] =
    await makeCards(user, board.id, [
      { title: 'sea', body: 'the quartz and blue' },
      { title: 'none', body: 'blue' },
      { title: 'z', body: 'deepblue quartz mine' },
      { title: 'z', body: 'a blue quartz mine' },
      { title: 'quartz, but blue' },
      { title: 'deepblue quartz' },
      { title: 'the blue quartz' },
      { title: 'Blue quartz mine' },
      { title: 'BLUE  Quartz' },
    ])
  const later = await makeCard(user, board.id, { title: 'blue quartz' })
  expect(exactLater).toBeUndefined()
  expect(await cardIds('blue quartz')).toEqual(
    [later, exact, begins, wordInTitle, inTitle, titleWords, bodyWord, bodyPart, words].map(
      (card) => card!.id,
    ),
  )
  expect(await cardIds('quartz blue')).not.toContain(part!.id)
  expect(await cardIds('blue quartz x')).toEqual([])
  const names = ['topaz', 'Topaz plan', 'a topaz', 'metatopaz']
  for (const name of names.toReversed()) await makeBoard(user, { name })
  expect((await find('topaz')).boards.items.map(({ name }: { name: string }) => name)).toEqual(names)
})

test('[Q5] a walk by offset meets every match once, each list says whether it has more, and a workspace filters', async () => {
  const other = await service.user()
  await service.member(other.workspaceId, user, 'viewer')
  const mine = await makeBoard(user, { name: 'Basalt one' })
  const theirs = await makeBoard(other, { name: 'Basalt two' })
  const made = [
    ...(await makeCards(
      user,
      mine.id,
      Array.from({ length: 23 }, (_, n) => ({ title: `basalt ${n % 3}` })),
    )),
    ...(await makeCards(
      other,
      theirs.id,
      Array.from({ length: 7 }, () => ({ body: 'on basalt' })),
    )),
  ]
  const whole = await cardIds('basalt')
  expect(whole.toSorted()).toEqual(made.map(({ id }) => id).toSorted())
  const walked: string[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const { cards, boards }: any = await find('basalt', `&limit=4&offset=${offset}`)
    expect([cards.limit, cards.offset, cards.has_more]).toEqual([4, offset, cards.next_offset !== null])
    expect(boards).toMatchObject({ has_more: false, next_offset: null, limit: 4 })
    walked.push(...ids(cards))
    offset = cards.next_offset
  }
  expect(walked).toEqual(whole)
  expect((await find('basalt', '&limit=1')).boards).toMatchObject({ has_more: true, next_offset: 1 })
  expect((await find('basalt', '&limit=30')).cards).toMatchObject({ has_more: false, next_offset: null })
  expect(await cardIds('basalt', '&offset=9007199254740991')).toEqual([])
  const filtered = await find('basalt', `&workspace=${other.workspaceId}`)
  expect([ids(filtered.boards), filtered.cards.items.length]).toEqual([[theirs.id], 7])
  for (const workspace of [nowhere, (await service.user()).workspaceId])
    expect((await user.api.get(`/search?q=basalt&workspace=${workspace}`)).status).toBe(404)
})

test('[Q6] an excerpt has 300 characters of the body around the match and splits none', async () => {
  const board = await makeBoard(user)
  const before = '😀 áé\n'.repeat(120)
  const after = ' и\u0306 𝒳'.repeat(120)
  const [middle, first, last, title, short] = await makeCards(user, board.id, [
    { body: `${before}Gneiß, hart${after}` },
    { body: `gneiss at first ${before}${after}` },
    { body: `${before}${after} at last gneiss` },
    { title: 'Gneiss', body: before },
    { title: 'A gneiss', body: null },
  ])
  const { cards } = await find('gneiss')
  const excerpt = (card?: { id: string }): string =>
    cards.items.find(({ id }: { id: string }) => id === card!.id).excerpt
  const characters = Array.from(excerpt(middle))
  expect(characters).toHaveLength(300)
  const at = characters.join('').indexOf('Gneiß')
  expect(Math.abs(Array.from(characters.join('').slice(0, at)).length - 148)).toBeLessThan(8)
  for (const text of [middle, first, last, title].map(excerpt)) {
    expect(text.isWellFormed()).toBe(true)
    expect(Array.from(text)).toHaveLength(300)
  }
  expect(excerpt(first)).toMatch(/^gneiss at first/)
  expect(excerpt(last)).toMatch(/at last gneiss$/)
  expect(excerpt(title)).toBe(Array.from(before).slice(0, 300).join(''))
  expect(excerpt(short)).toBe('')
})

test('[Q7] what a request wrote is found by the next one, and what it took away is not', async () => {
  const board = await makeBoard(user, { name: 'Obsidian' })
  expect(await boardIds('obsidian')).toEqual([board.id])
  const cards = await makeCards(
    user,
    board.id,
    Array.from({ length: 600 }, (_, n) => ({ title: `marble ${n}` })),
  )
  expect(await cardIds('marble', '&limit=500')).toHaveLength(500)
  expect(await cardIds('marble', '&limit=500&offset=500')).toHaveLength(100)
  const [one, two] = cards as [{ id: string }, { id: string }]
  succeeded(await user.api.patch(`/boards/${board.id}/cards/${one.id}`, { title: 'pumice' }))
  expect(await cardIds('pumice')).toEqual([one.id])
  expect(await cardIds('marble 0')).not.toContain(one.id)
  succeeded(await user.api.delete(`/boards/${board.id}/cards/${two.id}`))
  expect(await cardIds('marble 1')).not.toContain(two.id)
  succeeded(await user.api.patch(`/boards/${board.id}`, { name: 'Slate' }))
  expect([await boardIds('obsidian'), await boardIds('slate')]).toEqual([[], [board.id]])
  succeeded(await user.api.delete(`/boards/${board.id}`))
  expect([await boardIds('slate'), await cardIds('pumice')]).toEqual([[], []])
  succeeded(await user.api.post(`/boards/${board.id}/restore`))
  expect([await boardIds('slate'), await cardIds('pumice')]).toEqual([[board.id], [one.id]])
  await service.admin`delete from boards where id = ${board.id}`
  expect([await boardIds('slate'), await cardIds('pumice')]).toEqual([[], []])
})

test('[Q8] what an editor types is found within seconds; a drag writes nothing to the search index', async () => {
  const working = await startService()
  try {
    const writer = await working.user()
    const board = await makeBoard(writer)
    const editor = await openEditor(working.url, { boardId: board.id, token: writer.token })
    const card = editor.addCard('typed', { title: 'Feldspar', body: 'soft' })
    await until(async () => (await cardIds('feldspar', '', writer)).length === 1, 'the card is found', 5000)
    await until(
      async () => (await working.admin`select from search_pending`).length === 0,
      'nothing is pending',
    )
    const [before] = await working.admin`select xmin::text from search_index where card_id = 'typed'`
    card.set('x', 500)
    await until(
      async () =>
        (await working.admin`select from card_index where card_id = 'typed' and x = 500`).length === 1,
      'the drag is indexed',
    )
    expect(await working.admin`select from search_pending`).toHaveLength(0)
    expect(await working.admin`select xmin::text from search_index where card_id = 'typed'`).toEqual([before])
    editor.cards.delete('typed')
    await until(
      async () => (await working.admin`select from search_index where card_id = 'typed'`).length === 0,
      'a worker takes the card out of the index',
    )
    expect(await cardIds('feldspar', '', writer)).toEqual([])
  } finally {
    leaveAll()
    await working.stop()
  }
})

test('[Q14] of what two tenants write, neither learns by any search: not by hits, pages, excerpts or status', async () => {
  const [one, two, guest] = [await service.user(), await service.user(), await service.user()]
  const words = ['gabbro', 'gab', 'andesite', '安山岩', 'ab', 'ße']
  const write = async (who: TestUser, tag: string) => {
    const board = await makeBoard(who, { name: `gabbro ${tag}` })
    await makeCards(
      who,
      board.id,
      words.map((word) => ({ title: `${word} ${tag}`, body: `Straße ${word} of ${tag}` })),
    )
    return board
  }
  const shared = await write(one, 'one')
  await write(one, 'hidden')
  await service.share(shared.id, guest, 'viewer')
  const queries = [...words, 'gabbro two', 'two', 'hidden', 'of', 'strasse', 'secret'].filter(
    (q) => Array.from(q).length > 1 && q !== 'ße',
  )
  const filters = [
    '',
    '&limit=1',
    '&limit=1&offset=1',
    '&kind=card',
    `&workspace=${two.workspaceId}`,
    `&workspace=${one.workspaceId}`,
  ]
  const answers = async (who: TestUser) => {
    const texts: string[] = []
    for (const q of queries)
      for (const filter of filters) {
        const { status, text } = await who.api.get(`/search?q=${encodeURIComponent(q)}${filter}`)
        texts.push(`${q} ${filter} ${status} ${text.replace(/"query":"[^"]*"/, '')}`)
      }
    return texts
  }
  const before = [await answers(one), await answers(guest)]
  for (let turn = 0; turn < 5; turn++) await write(two, 'two secret')
  expect([await answers(one), await answers(guest)]).toEqual(before)
  for (const text of before.flat()) expect(text.replace(/^.*? \d{3} \{/, '')).not.toMatch(/two|secret/)
  for (const text of before[1]!) expect(text.replace(/^.*? \d{3} \{/, '')).not.toMatch(/hidden/)
  for (const text of await answers(two)) expect(text.replace(/^.*? \d{3} \{/, '')).not.toMatch(/ one|hidden/)
})
