/** Attacks with expensive texts: in the search index, as HTML, and in merges. */
import * as Y from 'yjs'
import type { Attack } from '../attack.ts'
import type { Attempt } from '../attempt.ts'
import { cardUpdates, formattedCard } from './updates.ts'

const marks = 'zq ' + '\u0315\u0300\u05ae\u0300'.repeat(4999)
const manyMarks = Array.from(
  { length: 6600 },
  (_, n) => `a${String.fromCodePoint(0x0300 + (n % 112), 0x0316)}`,
)
  .join('')
  .slice(0, 19_999)
const longestRun = 'q' + '\u0301\u0316'.repeat(9_999)
const jamo = 'ᄒ' + '\u1161\u11ab'.repeat(9_000)
const words = [
  'lamp',
  'river',
  'carrying',
  'window',
  'evening',
  'slowly',
  'keeper',
  'bridge',
  'against',
  'market',
]

/** Returns a text that differs in each card, so that no result can be reused. */
const cjk = (n: number, length: number) =>
  Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919 + n * 104_729) % 20_000))).join(
    '',
  )
const prose = (n: number, length: number) => {
  let text = ''
  for (let at = n; text.length < length; at++) text += `${words[(at * 31 + n) % words.length]}${at % 977} `
  return text.slice(0, length)
}

const cardsBody = (cards: object[]) => Buffer.from(JSON.stringify({ cards }))
const notes = (count: number, fields: (n: number) => object) =>
  cardsBody(Array.from({ length: count }, (_, n) => ({ kind: 'note', x: n * 300, y: 0, ...fields(n) })))
const search = (attempt: Attempt, q: string, extra = '') =>
  attempt.send('GET', `/search?q=${encodeURIComponent(q)}${extra}`)

/** An editor makes 60 cards, which must then be indexed. */
function editorCards(attempt: Attempt, count: number, body: (n: number) => string) {
  const { updates } = cardUpdates(count, (n) => ({ title: `t${n}`, body: body(n) }))
  return async () => {
    const socket = await attempt.enter()
    return async () => {
      await attempt.updates(socket, updates)
      await attempt.times(3, () => search(attempt, 't1'), 1)
    }
  }
}

/** Replaces the texts of cards in one request by texts that have nothing in common with them. */
const swap = (text: string) => text.split('').toReversed().join('').replaceAll('a', 'ä')
async function patches(
  attempt: Attempt,
  count: number,
  { base, text }: { base: boolean; text: (n: number) => string },
) {
  const ids = await attempt.editorCards(count, (n) => ({ body: text(n) }))
  const body = cardsBody(
    ids.map((id, n) => ({ id, body: swap(text(n)), ...(base ? { body_base: text(n + 1) } : {}) })),
  )
  return () => attempt.send('PATCH', `/boards/${attempt.boardId}/cards`, body)
}

const lists = '<li>'.repeat(10_000)
const attributes = Array.from({ length: 1400 }, (_, n) => `<a href="x:${n}" title='&amp;&#${n};&lt;'>&`)
  .join('')
  .slice(0, 40_000)
const html = (name: string, sends: string, fields: (n: number) => string, short?: true): Attack => ({
  name,
  point: 5,
  sends,
  expects: ['201'],
  ...(short ? { short } : {}),
  async prepare(attempt) {
    const body = notes(attempt.size(300, 100), (n) => ({ html: fields(n).slice(0, 40_000) }))
    return () => attempt.send('POST', `/boards/${attempt.boardId}/cards`, body)
  },
})

export const textAttacks: Attack[] = [
  {
    name: 'marks-index',
    point: 1,
    sends: '100 cards of 19,999 combining marks, then a search',
    expects: ['200', '201'],
    short: true,
    leavesData: true,
    async prepare(attempt) {
      const body = notes(attempt.size(100, 40), () => ({ title: 'marks', body: marks }))
      return async () => {
        await attempt.send('POST', `/boards/${attempt.boardId}/cards`, body)
        await search(attempt, 'marks')
      }
    },
  },
  {
    name: 'marks-search',
    point: 1,
    sends: '30 such cards, then 10 searches that find them all',
    expects: ['200', '201'],
    leavesData: true,
    async prepare(attempt) {
      const body = notes(30, () => ({ body: marks }))
      return async () => {
        await attempt.send('POST', `/boards/${attempt.boardId}/cards`, body)
        await attempt.times(10, () => search(attempt, 'zq'), 2)
      }
    },
  },
  {
    name: 'marks-classes',
    point: 1,
    sends: '90 cards of letters with every mark there is, long runs and Hangul',
    expects: ['200', '201'],
    leavesData: true,
    async prepare(attempt) {
      const body = notes(90, (n) => ({ body: [manyMarks, longestRun, jamo][n % 3] }))
      return async () => {
        await attempt.send('POST', `/boards/${attempt.boardId}/cards`, body)
        await attempt.times(4, () => search(attempt, 'q\u0301'), 1)
      }
    },
  },
  {
    name: 'marks-query',
    point: 1,
    sends: '200 searches for 200 combining marks',
    expects: ['200'],
    async prepare(attempt) {
      return () => attempt.times(200, (n) => search(attempt, marks.slice(0, 190) + n, '&kind=card'), 20)
    },
  },
  {
    name: 'marks-edited',
    point: 1,
    sends: 'an editor writes 300 cards of marks past the card cap',
    expects: ['200', 'acknowledged'],
    leavesData: true,
    prepare: async (attempt) => editorCards(attempt, attempt.size(300, 60), () => marks)(),
  },
  {
    name: 'cjk-index',
    point: 2,
    sends: '250 cards of 19,900 CJK characters by an editor, then searches',
    expects: ['200', 'acknowledged'],
    short: true,
    leavesData: true,
    prepare: async (attempt) => editorCards(attempt, attempt.size(250, 100), (n) => cjk(n, 19_900))(),
  },
  {
    name: 'prose-index',
    point: 2,
    sends: '250 cards of 19,900 characters of prose by an editor, then searches',
    expects: ['200', 'acknowledged'],
    leavesData: true,
    prepare: async (attempt) => editorCards(attempt, attempt.size(250, 60), (n) => prose(n, 19_900))(),
  },
  {
    name: 'pairs-search',
    point: 2,
    sends: '40 searches for two characters on 200 large cards',
    expects: ['200'],
    async prepare(attempt) {
      await attempt.editorCards(attempt.size(200, 40), (n) => ({ body: prose(n, 19_000) }))
      await search(attempt, 'lamp')
      return () =>
        attempt.times(40, (n) => search(attempt, ['la', 'ri', 'er', 'in', ' 1'][n % 5]!, '&limit=500'), 20)
    },
  },
  {
    name: 'reindex',
    point: 2,
    sends: 'the same 90 large cards patched 10 times, a search after each',
    expects: ['200'],
    async prepare(attempt) {
      const { cards } = await attempt.make(
        'POST',
        `/boards/${attempt.boardId}/cards`,
        JSON.parse(notes(90, (n) => ({ body: prose(n, 15_000) })).toString()),
      )
      const bodies = Array.from({ length: 10 }, (_, turn) =>
        cardsBody(
          cards.map(({ id }: { id: string }, n: number) => ({
            id,
            title: cjk(turn, 200),
            html: prose(n + turn, 30_000),
          })),
        ),
      )
      return async () => {
        for (const body of bodies) {
          await attempt.send('PATCH', `/boards/${attempt.boardId}/cards`, body)
          await search(attempt, 'lamp')
        }
      }
    },
  },
  html('html-bold', '300 cards of 13,333 <b>', () => '<b>'.repeat(13_333), true),
  html('html-mixed', '300 cards of tags, attributes and entities', () => attributes),
  html('html-unclosed', '300 cards of comments, quotes and scripts that never end', (n) =>
    ['<!--', '<a href="', '<script>', '<![CDATA[', '&'][n % 5]!.repeat(13_000),
  ),
  {
    name: 'html-pages',
    point: 5,
    sends: '100 cards of 10,000 <li> by an editor, then 10 reads of the page',
    expects: ['200'],
    short: true,
    leavesData: true,
    async prepare(attempt) {
      await attempt.editorCards(100, () => ({ html: lists }))
      return () =>
        attempt.times(
          attempt.size(10, 3),
          () => attempt.send('GET', `/boards/${attempt.boardId}/cards?limit=100`),
          2,
        )
    },
  },
  {
    name: 'html-index-pages',
    point: 5,
    sends: 'such cards read one by one, as a feed and as an export',
    expects: ['200'],
    async prepare(attempt) {
      const ids = await attempt.editorCards(60, () => ({ html: lists }))
      const board = `/boards/${attempt.boardId}`
      return async () => {
        await attempt.times(60, (n) => attempt.send('GET', `${board}/cards/${ids[n]}`), 10)
        await attempt.send('GET', `${board}/cards?source=index&since=2020-01-01T00:00:00Z`)
        await attempt.send('GET', `${board}/export`)
      }
    },
  },
  {
    name: 'merge-30',
    point: 6,
    sends: 'one PATCH that replaces 30 bodies of 20,000 characters',
    expects: ['200'],
    prepare: (attempt) => patches(attempt, 30, { base: false, text: (n) => prose(n, 20_000) }),
  },
  {
    name: 'merge-base-30',
    point: 6,
    sends: 'the same with body_base',
    expects: ['200'],
    short: true,
    prepare: (attempt) => patches(attempt, 30, { base: true, text: (n) => prose(n, 20_000) }),
  },
  {
    name: 'merge-1000',
    point: 6,
    sends: 'one PATCH that replaces 1,000 bodies of 20,000 characters',
    expects: ['200'],
    leavesData: true,
    prepare: (attempt) =>
      patches(attempt, attempt.size(1000, 100), { base: false, text: (n) => prose(n, 20_000) }),
  },
  {
    name: 'merge-base-1000',
    point: 6,
    sends: 'the same with body_base',
    expects: ['200'],
    leavesData: true,
    prepare: (attempt) =>
      patches(attempt, attempt.size(1000, 100), { base: true, text: (n) => prose(n, 20_000) }),
  },
  {
    name: 'merge-few-letters',
    point: 6,
    sends: '100 bodies of two letters at random, with body_base',
    expects: ['200'],
    prepare: (attempt) =>
      patches(attempt, 100, {
        base: true,
        text: (n) =>
          Array.from({ length: 20_000 }, (_, at) => 'ab'[(at * at + n * at + (at >> 3)) & 1]).join(''),
      }),
  },
  {
    name: 'formats-restore',
    point: 6,
    sends: '20 dry runs of a restore of a text of 5,000 formats and 5,000 objects',
    expects: ['200'],
    leavesData: true,
    async prepare(attempt) {
      const socket = await attempt.enter()
      const id = 'hostile-formats'
      await attempt.updates(socket, [formattedCard(attempt.size(5000, 1000), id)])
      const board = `/boards/${attempt.boardId}`
      const { entries } = await attempt.make('GET', `${board}/history`)
      await attempt.make('PATCH', `${board}/cards/${id}`, { title: 'later' })
      const body = JSON.stringify({ as_of: String(entries[0].position), dry_run: true })
      return () => attempt.times(20, () => attempt.send('POST', `${board}/restore-to`, body), 4)
    },
  },
  {
    name: 'diff-texts',
    point: 6,
    sends: '20 diffs of a card whose text of 3.9 million characters was replaced',
    expects: ['200'],
    leavesData: true,
    async prepare(attempt) {
      const socket = await attempt.enter()
      const length = attempt.size(3_900_000, 500_000)
      const board = `/boards/${attempt.boardId}`
      const made = cardUpdates(1, () => ({ html: '.a'.repeat(length / 2) }))
      await attempt.updates(socket, made.updates)
      const { entries } = await attempt.make('GET', `${board}/history`)
      const document = new Y.Doc()
      for (const update of made.updates) Y.applyUpdate(document, update)
      document
        .getMap<Y.Map<unknown>>('cards')
        .get(made.ids[0]!)!
        .set('html', 'b,'.repeat(length / 2))
      await attempt.updates(socket, [Y.encodeStateAsUpdate(document)])
      return () =>
        attempt.times(20, () => attempt.send('GET', `${board}/diff?from=${entries[0].position}`), 4)
    },
  },
]
