/**
 * No synchronous step on the main thread takes more than 50 ms of CPU for any input within the limits. Whoever adds a
 * pure step that runs there adds a line: what it is, and inputs at the limits.
 *
 * What is larger runs in pieces or in a worker thread.
 */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boardMarkdown } from '../../api/mcp/board-markdown.ts'
import { readPageHead } from '../../api/exchange/page-head.ts'
import { inlineCards } from '../../collab/boards/arrange.ts'
import { inlinePlaces } from '../../collab/boards/free-places.ts'
import { planBody } from '../../core/body-plan.ts'
import { cardFields } from '../../core/card.ts'
import { htmlFault, sanitizeHtml } from '../../core/html.ts'
import { arrangeAgain } from '../../core/layout/arrange.ts'
import { defaultOptions, type LayoutOptions } from '../../core/layout/arrangement.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { FreeSpace } from '../../core/layout/free-space.ts'
import { readingOrder } from '../../core/layout/reading-order.ts'
import { limits } from '../../core/limits.ts'
import { mainThreadMs } from '../support/cpu-time.ts'
import { anyCard, named } from './layout-cards.ts'

/** Of the least of several runs, so that compiling, collecting garbage and a busy machine don't count. */
const boundMs = 50

const runs = { numRuns: 12, endOnFailure: true }

/** Text of a few parts, repeated in a pattern, as long as it may be. */
const patterned = (parts: string[], length: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...parts), fc.integer({ min: 1, max: 4000 })), {
      minLength: 1,
      maxLength: 6,
    })
    .chain((runsOfParts) =>
      fc.boolean().map((inTurns) => {
        const piece = inTurns
          ? runsOfParts.map(([part]) => part).join('')
          : runsOfParts.map(([part, count]) => part.repeat(count)).join('')
        return piece
          .repeat(Math.ceil(length / piece.length))
          .slice(0, length)
          .toWellFormed()
      }),
    )

const markup = [
  '<',
  '>',
  '&',
  '&lt;',
  '&amp;',
  '"',
  'a',
  ' ',
  '😀',
  '<b>',
  '</b>',
  '<p>',
  '</p>',
  '</br>',
  '<br>',
  '<li>',
  '<ul><li>',
  '<tr><td>',
  '<td colspan=1>',
  '<a href="https://a.b">',
  '<a href="',
  '<noscript>',
  '<iframe>',
  '<svg>',
  '<svg><desc>',
  '</feblend>',
  '<math><mi>',
  '<form>',
  '<table>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '</i>',
  '<xmp>',
  '<textarea>',
  '<template>',
  '<script>',
  '<p ',
  'x=1 ',
  '/',
]

const words = ['a', 'b', 'ab', ' ', '. ', 'word', 'wort ', 'e\u0301', '😀', '😁', '\n', '漢', '-']

describe('html', () => {
  test('[H14] a text at its limit is counted and sanitised in bounded time', () => {
    fc.assert(
      fc.property(patterned(markup, cardFields.html.limit), (html) => {
        expect(mainThreadMs(() => htmlFault(html))).toBeLessThan(boundMs / 10)
        expect(mainThreadMs(() => sanitizeHtml(html))).toBeLessThan(boundMs)
      }),
      { ...runs, numRuns: 60 },
    )
  })
})

describe('bodies', () => {
  const body = patterned(words, cardFields.body.limit)

  test('[T24] with the effort of a request, 1,000 bodies at their limit are planned or given up in bounded time', () => {
    fc.assert(
      fc.property(body, body, body, fc.boolean(), (current, wanted, base, merges) => {
        const change = { current, wanted, base: merges ? base : undefined }
        const step = () => {
          const effort = { left: 400_000 }
          for (let n = 0; n < 1000 && effort.left >= 0; n++) planBody(change, effort)
        }
        expect(mainThreadMs(step)).toBeLessThan(boundMs)
      }),
      runs,
    )
  })
})

describe('layouts', () => {
  const options: [string, LayoutOptions][] = [
    ['default', defaultOptions],
    ['wide', { gap: 0, width: 100_000, rowHeight: 40, columns: 100 }],
    ['narrow', { gap: 1000, width: 100, rowHeight: 4000, columns: 1 }],
  ]
  /** So many cards of a few random kinds, at random places. */
  const cardsOf = (count: number) =>
    fc.array(anyCard, { minLength: 1, maxLength: 20 }).chain((few) =>
      fc.integer({ min: 1, max: 2 ** 31 }).map((seed) => {
        let state = seed
        const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
        return named(Array.from({ length: count }, (_, n) => few[n % few.length]!)).map((card) => ({
          ...card,
          x: Math.round((next() - 0.5) * 20_000),
          y: Math.round((next() - 0.5) * 20_000),
        }))
      }),
    )

  test('[Z44] cards that are arranged on the main thread take bounded time in every layout', () => {
    fc.assert(
      fc.property(
        cardsOf(inlineCards),
        fc.constantFrom(...layoutNames),
        fc.constantFrom(...options),
        (cards, layout, [, given]) => {
          expect(mainThreadMs(() => readingOrder(cards))).toBeLessThan(boundMs)
          const step = () => {
            try {
              arrangeAgain(layout, cards, [], given)
            } catch (error) {
              expect(String(error)).toMatch(/larger than a board/)
            }
          }
          expect(mainThreadMs(step)).toBeLessThan(boundMs)
        },
      ),
      runs,
    )
  })

  test('[Z45] 1,000 new cards find places on a board that is searched on the main thread in bounded time', () => {
    fc.assert(
      fc.property(cardsOf(inlinePlaces), cardsOf(limits.cardsPerRequest), (there, fresh) => {
        const step = () => {
          const space = new FreeSpace()
          for (const rect of there) space.occupy(rect)
          for (const card of fresh) space.place(card)
        }
        expect(mainThreadMs(step)).toBeLessThan(boundMs)
      }),
      { ...runs, numRuns: 5 },
    )
  })
})

describe('pages', () => {
  test('[H15] the head of a page at its limit is read in bounded time', () => {
    const parts = [...markup, '<meta property="og:title" content="x">', '<title>', '</title>', '<head>']
    const endsBelowMany = '<div>'.repeat(4900).padEnd(limits.import.pageBytes, '</title>')
    const emptyTitles = ''.padEnd(limits.import.pageBytes, '<title></title>')
    fc.assert(
      fc.property(patterned(parts, limits.import.pageBytes), (page) => {
        const bytes = Buffer.from(page).subarray(0, limits.import.pageBytes)
        expect(mainThreadMs(() => readPageHead(bytes, 'text/html; charset=utf-8'))).toBeLessThan(boundMs)
      }),
      { ...runs, examples: [[endsBelowMany], [emptyTitles]] },
    )
  })

  test('[T25] a board of cards at their limits is written as Markdown in bounded time', () => {
    const body = '\n'.repeat(cardFields.body.limit)
    const text = { title: '\n'.repeat(300), url: `https://a.example/${'x'.repeat(1980)}` }
    const place = { x: 0, y: 0, w: 280, h: 180, group_id: 'g' }
    const cards = Array.from({ length: limits.pageSize.max }, (_, n) => ({
      id: `c${n}`,
      kind: 'note',
      ...text,
      body,
      ...place,
    }))
    const page = { board: { id: 'b', name: 'x' }, groups: [], cards, total: cards.length } as never
    expect(mainThreadMs(() => boardMarkdown(page))).toBeLessThan(boundMs)
  })
})
