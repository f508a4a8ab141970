/** What programs keep on cards: props and identifiers. */
import { expect, test } from 'vitest'
import { serviceOfFile } from '../support/test-file.ts'
import { cardsOn, listCards, makeBoard } from './board.ts'

const { user } = await serviceOfFile({ workers: false })
const board = await makeBoard(user)
const { path, create, created, patch, shown } = cardsOn(user, board.id)

test('[C12] props are replaced whole, cleared by null, and shown in a list only on request', async () => {
  const props = { a: { b: [1, 'x', null, true] }, empty: {} }
  const card = await created({ props })
  expect(card['props']).toEqual(props)
  expect((await patch(card.id, { title: 't' })).body.card.props).toEqual(props)
  expect((await patch(card.id, { props: { only: 1 } })).body.card.props).toEqual({ only: 1 })
  expect(await shown(card.id)).toMatchObject({ props: { only: 1 } })
  const plain = (await listCards(user, board.id)).find(({ id }) => id === card.id)!
  expect(plain).not.toHaveProperty('props')
  expect(plain).not.toHaveProperty('identifiers')
  expect((await patch(card.id, { props: null })).body.card.props).toBeNull()
})

test('[C13] props past their bounds are 400: 16 KB, 5 levels, keys of 100 characters, __proto__', async () => {
  const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
  const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  for (const props of [deep(5), sized(16 * 1024), { ['😀'.repeat(100)]: 1 }])
    expect((await created({ props })).props).toEqual(props)
  const refused = [
    JSON.stringify(deep(6)),
    '[]',
    '"x"',
    JSON.stringify({ a: [[[[[]]]]] }),
    JSON.stringify(sized(16 * 1024 + 1)),
    JSON.stringify({ ['x'.repeat(101)]: 1 }),
    '{"__proto__":{}}',
    '{"a":[{"__proto__":1}]}',
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  ]
  const card = await created({})
  for (const props of refused) {
    const answers = [
      await user.api.send(
        'POST',
        path,
        `{"cards":[{"kind":"note","x":0,"y":0},{"kind":"note","x":0,"y":0,"props":${props}}]}`,
      ),
      await user.api.send('PATCH', `${path}/${card.id}`, `{"props":${props}}`),
    ]
    expect([props.slice(0, 40), ...answers.map(({ status }) => status)]).toEqual([
      props.slice(0, 40),
      400,
      400,
    ])
    // A body that nests deeper than any may is not looked at any further.
    const isTooDeep = props.startsWith('{"a":{"a":') && props.length > 1000
    expect(answers[0]!.body.error).toMatch(isTooDeep ? /^The body must be nested/ : /^cards\[1\]\.props/)
    expect(answers[1]!.body.error).toMatch(isTooDeep ? /^The body must be nested/ : /^props/)
  }
})

test('[C14] identifiers are kept, each once, replaced whole, and bounded', async () => {
  const identifiers = [
    { scope: 's', value: '1' },
    { scope: 's', value: '2' },
  ]
  const card = await created({
    identifiers: [...identifiers, identifiers[0], { scope: 's', value: '2', more: 1 }],
  })
  expect(card['identifiers']).toEqual(identifiers)
  expect(await shown(card.id)).toMatchObject({ identifiers })
  expect((await patch(card.id, { identifiers: [{ scope: 'a', value: 'b' }] })).body.card.identifiers).toEqual(
    [{ scope: 'a', value: 'b' }],
  )
  expect((await patch(card.id, { identifiers: null })).body.card.identifiers).toEqual([])
  const many = Array.from({ length: 21 }, (_, n) => ({ scope: 's', value: `${n}` }))
  expect((await created({ identifiers: many.slice(1) })).identifiers).toHaveLength(20)
  const refused: unknown[] = [
    many,
    [{ scope: 's' }],
    [{ scope: '', value: 'a' }],
    [{ scope: 's'.repeat(101), value: 'a' }],
    [{ scope: 's', value: 'v'.repeat(501) }],
    ['x'],
    {},
    'x',
  ]
  for (const identifiers of refused) {
    expect((await create({ identifiers })).status).toBe(400)
    expect((await patch(card.id, { identifiers })).body.error).toMatch(/^identifiers/)
  }
})
