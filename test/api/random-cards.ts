/** Random boards, as API clients can make them. */
import * as fc from 'fast-check'
import { cardFields, fileFields, kinds } from '../../core/card.ts'

const words = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\u0000', ''))
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
/** Props may not have a key `__proto__`. */
const propValue = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => !JSON.stringify(value).includes('"__proto__":'))
const key = fc.stringMatching(/^[a-z0-9]{8,20}\.(png|mp4|bin)$/)

export interface RandomBoard {
  name: string
  groups: Record<string, unknown>[]
  /** `group` is the place of the card's group among the groups. */
  cards: (Record<string, unknown> & { group?: number | undefined })[]
}

const identifiers = fc.uniqueArray(
  fc.record({ scope: fc.constantFrom('shotgrid', 'ftrack', 'ümlaut'), value: fc.uuid() }),
  { maxLength: 3, selector: ({ value }) => value },
)

const card = fc.record(
  {
    kind: fc.constantFrom(...kinds),
    title: words,
    body: fc.oneof(words, fc.lorem({ maxCount: 60 })),
    html: fc.lorem({ maxCount: 5 }).map((text) => `<p><b>${text}</b> &amp; more</p>`),
    url: fc.webUrl({ withQueryParameters: true }),
    image_key: key,
    file_key: key,
    poster_key: key,
    file_name: words,
    mime: fc.constantFrom(
      'image/png',
      'video/mp4',
      'Audio/MPEG',
      'text/plain',
      'application/zip',
      'nonsense',
    ),
    ext: fc.constantFrom('png', 'mp4', ''),
    size_bytes: fc.nat(),
    alt: words,
    color: fc.constantFrom('#ff0000', 'red'),
    sub: fc.string({ maxLength: cardFields.sub.limit }).map((text) => text.replaceAll('\u0000', '')),
    x: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    y: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    w: fc.double({ min: 1, max: 5000, noNaN: true }),
    h: fc.double({ min: 1, max: 5000, noNaN: true }),
    z: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    rotation: fc.double({ min: -720, max: 720, noNaN: true }),
    section_header: fc.boolean(),
    props: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), propValue, { maxKeys: 3 }),
    identifiers,
    group: maybe(fc.nat({ max: 3 })),
  },
  { requiredKeys: ['kind'] },
)

const group = fc.record(
  {
    name: fc.stringMatching(/^[A-Za-zäöü0-9]{1,30}$/),
    color: fc.constantFrom('#00ff00', null),
    shape: fc.constantFrom('box', 'hug'),
    outline: fc.boolean(),
  },
  { requiredKeys: ['name'] },
)

export const randomBoard: fc.Arbitrary<RandomBoard> = fc.record({
  name: fc.stringMatching(/^[A-Za-z0-9]{1,30}$/),
  groups: fc.array(group, { maxLength: 3 }),
  cards: fc.array(card, { maxLength: 12 }),
})

/** The keys that its cards name. */
export const fileKeysOf = (board: RandomBoard): string[] =>
  board.cards.flatMap((card) => fileFields.flatMap((field) => (card[field] as string | undefined) ?? []))
