/** Finding the structs of an update in its bytes. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { cutUpdate } from '../../collab/updates/cut.ts'
import { scanUpdate } from '../../collab/updates/scan.ts'

/** A document with every kind of content that Yjs writes, by several clients, with deletions and collected structs. */
function everyContent(): Y.Doc {
  const documents = [new Y.Doc(), new Y.Doc()]
  const [one, two] = documents as [Y.Doc, Y.Doc]
  const map = one.getMap('map')
  map.set('any', [1, 'two', null, undefined, { three: [true, 4.5, 2n ** 40n] }])
  map.set('bytes', Uint8Array.of(1, 2, 3))
  map.set('document', new Y.Doc({ guid: 'inner' }))
  map.set('nested', new Y.Map([['deep', new Y.Array()]]))
  const text = one.getText('text')
  text.insert(0, 'Grüße 👩‍🔬 ', { bold: true })
  text.insertEmbed(3, { image: 'x' }, { width: 3 })
  const fragment = one.getXmlFragment('rich')
  fragment.insert(0, [
    new Y.XmlElement('paragraph'),
    new Y.XmlText('plain'),
    new Y.XmlHook('hook') as unknown as Y.XmlElement,
  ])
  ;(fragment.get(0) as Y.XmlElement).setAttribute('level', '1')
  Y.applyUpdate(two, Y.encodeStateAsUpdate(one))
  two.getText('text').insert(2, 'between')
  two.getArray('list').push([1, 2, 3])
  two.getMap('map').delete('nested')
  text.delete(0, 4)
  for (const document of documents)
    for (const other of documents) Y.applyUpdate(document, Y.encodeStateAsUpdate(other))
  return one
}

/** Written by old versions of Yjs: plain values as JSON texts. */
function oldJson(): Uint8Array {
  const document = new Y.Doc()
  const list = document.getArray('list')
  const item = new Y.Item(
    Y.createID(document.clientID, 0),
    ...([null, null, null, null, list, null] as const),
    new Y.ContentJSON([1, undefined, { a: 'b' }]),
  )
  document.transact((transaction) => item.integrate(transaction, 0))
  return Y.encodeStateAsUpdate(document)
}

const withGap = () => {
  const document = new Y.Doc()
  const updates: Uint8Array[] = []
  document.on('update', (update: Uint8Array) => void updates.push(update))
  for (let n = 0; n < 3; n++) document.getArray('list').push([n])
  return Y.mergeUpdates([updates[0]!, updates[2]!])
}

const placesOf = (update: Uint8Array) =>
  scanUpdate(update).lines.flatMap(({ places }) =>
    places.map(({ client, clock, length }) => [client, clock, length]),
  )
const decodedPlaces = (update: Uint8Array) =>
  Y.decodeUpdate(update).structs.map(({ id, length }) => [id.client, id.clock, length])

const updates = {
  everyContent: Y.encodeStateAsUpdate(everyContent()),
  oldJson: oldJson(),
  withGap: withGap(),
}

test.for(Object.entries(updates))(
  '[X530] the places of structs are those that Yjs reads: %s',
  ([, update]) => {
    expect(placesOf(update)).toEqual(decodedPlaces(update))
    const values: unknown[] = []
    scanUpdate(update, (some) => values.push(...some))
    const decoded = Y.decodeUpdate(update).structs.flatMap((struct) => {
      const content = struct instanceof Y.Item ? struct.content : null
      if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr as unknown[]
      if (content instanceof Y.ContentEmbed) return [content.embed as unknown]
      return content instanceof Y.ContentFormat ? [content.value] : []
    })
    expect(values).toEqual(decoded)
  },
)

test('[X530] the parts of an update with every kind of content have the effect of the whole', () => {
  const rebuilt = new Y.Doc()
  for (const part of cutUpdate(updates.everyContent)!) Y.applyUpdate(rebuilt, part)
  expect(Y.encodeStateAsUpdate(rebuilt)).toEqual(updates.everyContent)
})

test('[X530] damaged bytes are refused as a whole or in a part, or read as Yjs reads them', () => {
  const isDecodable = (update: Uint8Array) => {
    try {
      Y.decodeUpdate(update)
      return true
    } catch {
      return false
    }
  }
  const whole = updates.everyContent
  let refused = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(whole.byteLength - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      fc.nat(whole.byteLength),
      fc.boolean(),
      (changes, end, isCutOff) => {
        const damaged = whole.slice(0, isCutOff ? end : undefined)
        for (const [at, byte] of changes) if (at < damaged.byteLength) damaged[at] = byte
        const parts = cutUpdate(damaged)
        if (isDecodable(damaged)) {
          if (parts) expect(placesOf(damaged)).toEqual(decodedPlaces(damaged))
          return
        }
        refused += 1
        expect(parts === null || !parts.every(isDecodable)).toBe(true)
      },
    ),
    { numRuns: 2000 },
  )
  expect(refused).toBeGreaterThan(500)
})
