/** Updates and frames for attacks. */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { encodeUpdate } from '../../../collab/updates/encode.ts'

/** Approximate bytes of cards in one update. */
const updateBytes = 400_000

/** Makes cards as an editor does, in a few updates of moderate size. */
export function cardUpdates(
  count: number,
  fields: (n: number) => Record<string, string | number>,
): { updates: Uint8Array[]; ids: string[] } {
  const document = new Y.Doc()
  const cards = document.getMap<Y.Map<unknown>>('cards')
  const ids: string[] = []
  const updates: Uint8Array[] = []
  let bytes = 0
  let sent = Y.encodeStateVector(document)
  const flush = () => {
    updates.push(Y.encodeStateAsUpdate(document, sent))
    sent = Y.encodeStateVector(document)
    bytes = 0
  }
  for (let n = 0; n < count; n++) {
    const id = `h${n}_${Math.random().toString(36).slice(2, 12)}`
    ids.push(id)
    const { body = '', ...plain } = fields(n)
    document.transact(() => {
      const card = cards.set(id, new Y.Map())
      const values = {
        kind: 'note',
        x: (n % 100) * 300,
        y: Math.floor(n / 100) * 200,
        w: 280,
        h: 180,
        z: n,
        ...plain,
      }
      for (const [key, value] of Object.entries(values)) card.set(key, value)
      card.set('body', new Y.Text(String(body)))
    })
    bytes += 200 + JSON.stringify(fields(n)).length
    if (bytes > updateBytes) flush()
  }
  if (bytes > 0) flush()
  return { updates, ids }
}

/** Encodes an update from structs by client, each list from its first clock on, and deleted ranges. */
export function handMade(
  clients: [client: number, structs: (Y.Item | Y.GC)[]][],
  deletes: [client: number, ranges: [clock: number, length: number][]][] = [],
): Uint8Array {
  const ranges = deletes.map(
    ([client, some]) => [client, some.map(([clock, len]) => ({ clock, len }))] as const,
  )
  return encodeUpdate(new Map(clients), new Map(ranges))
}

interface Place {
  parent?: string | Y.ID | null
  key?: string | null
  origin?: Y.ID | null
  rightOrigin?: Y.ID | null
}

export const item = (client: number, clock: number, content: Y.Item['content'], place: Place = {}) =>
  new Y.Item(
    Y.createID(client, clock),
    null,
    place.origin ?? null,
    null,
    place.rightOrigin ?? null,
    (place.parent ?? null) as Y.ID,
    place.key ?? null,
    content,
  )

const text = (value: string) => new Y.ContentString(value)

/** A text, and for each of its characters another one that is inserted at the start, before that character. */
export function ascendingRightOrigins(
  bytes: number,
  root = 'hostile',
): { base: Uint8Array; parts: (count: number) => Uint8Array[] } {
  // A struct takes 7 bytes and its right neighbour in the base 1.
  const count = Math.floor(bytes / 8)
  const base = handMade([[1, [item(1, 0, text('a'.repeat(count)), { parent: root })]]])
  const structs = Array.from({ length: count }, (_, n) =>
    item(2, n, text('b'), { rightOrigin: Y.createID(1, n) }),
  )
  return {
    base,
    parts: (parts) => {
      const each = Math.ceil(count / parts)
      return Array.from({ length: Math.ceil(count / each) }, (_, n) =>
        handMade([[2, structs.slice(n * each, (n + 1) * each)]]),
      )
    },
  }
}

/** Merges both into one update. */
export function ascendingInOne(bytes: number): Uint8Array {
  const { base, parts } = ascendingRightOrigins(bytes)
  return Y.mergeUpdates([base, ...parts(1)])
}

/** Many clients, each with one character that is inserted after the same character, or at the start. */
export function manySiblings(count: number, { descending }: { descending: boolean }): Uint8Array {
  const clients = Array.from({ length: count }, (_, n): [number, Y.Item[]] => {
    const client = descending ? count + 10 - n : n + 10
    return [client, [item(client, 0, text('s'), { origin: Y.createID(1, 0) })]]
  })
  return handMade([[1, [item(1, 0, text('a'), { parent: 'hostile' })]], ...clients])
}

/** A text in which every second character is deleted. */
export function deleteBomb(characters: number): Uint8Array {
  const ranges = Array.from({ length: characters / 2 }, (_, n): [number, number] => [n * 2, 1])
  return handMade([[1, [item(1, 0, text('d'.repeat(characters)), { parent: 'hostile' })]]], [[1, ranges]])
}

/** Deletes of unknown clients. */
export const deletesOfStrangers = (clients: number): Uint8Array =>
  handMade(
    [],
    Array.from({ length: clients }, (_, n) => [n + 10, [[0, 1]]]),
  )

/** Many maps, nested to the allowed depth. */
export function nested(depth: number, times: number): Uint8Array {
  const structs: Y.Item[] = []
  for (let n = 0; n < times; n++) {
    for (let level = 0; level < depth; level++) {
      const clock = structs.length
      const parent = level === 0 ? 'hostile' : Y.createID(3, clock - 1)
      structs.push(
        item(3, clock, new Y.ContentType(new Y.Map()), { parent, key: level === 0 ? `${n}` : 'm' }),
      )
    }
  }
  return handMade([[3, structs]])
}

/** Many cards, and the deletion of all of them. */
export function cardsAndDeletion(count: number): { cards: Uint8Array; deletion: Uint8Array } {
  const document = new Y.Doc()
  const cards = document.getMap('cards')
  document.transact(() => {
    for (let n = 0; n < count; n++) {
      const fields = { kind: 'note', title: `Card ${n}`, x: n, y: 0, w: 280, h: 180, z: n, rotation: 0 }
      cards.set(`hostile-${n}`, new Y.Map(Object.entries(fields)))
    }
  })
  return { cards: Y.encodeStateAsUpdate(document), deletion: deletionOf(document) }
}

/** Deletes all cards of a document. */
function deletionOf(document: Y.Doc): Uint8Array {
  const before = Y.encodeStateVector(document)
  document.getMap('cards').clear()
  return Y.encodeStateAsUpdate(document, before)
}

/** One card with a rich text of many nodes, and what deletes it. */
export function richCard(nodes: number): { id: string; cards: Uint8Array; deletion: Uint8Array } {
  const document = new Y.Doc()
  const id = 'hostile-rich'
  document.transact(() => {
    const fields: [string, unknown][] = Object.entries({ kind: 'note', x: 0, y: 0, w: 280, h: 180, z: 1 })
    const card = document.getMap<Y.Map<unknown>>('cards').set(id, new Y.Map(fields))
    const content = card.set('content', new Y.XmlFragment())
    content.insert(
      0,
      Array.from({ length: nodes }, () => new Y.XmlElement('p')),
    )
  })
  return { id, cards: Y.encodeStateAsUpdate(document), deletion: deletionOf(document) }
}

/** A card with texts that have many formats, and then as many objects. Each object has all formats of its text. */
export function formattedCard(count: number, id = 'hostile-formats', fields = ['body']): Uint8Array {
  const client = 9
  const at = (clock: number) => Y.createID(client, clock)
  const field = (clock: number, key: string, content: Y.Item['content']) =>
    item(client, clock, content, { parent: at(0), key })
  const structs = [
    item(client, 0, new Y.ContentType(new Y.Map()), { parent: 'cards', key: id }),
    field(1, 'kind', new Y.ContentAny(['note'])),
  ]
  for (const name of fields) {
    const text = structs.length
    structs.push(field(text, name, new Y.ContentType(new Y.Text())))
    for (let n = 0; n < 2 * count; n++) {
      const content =
        n < count ? new Y.ContentFormat(`format ${n}`, true) : new Y.ContentEmbed({ n: n - count })
      const place = n === 0 ? { parent: at(text) } : { origin: at(text + n) }
      structs.push(item(client, text + 1 + n, content, place))
    }
  }
  return handMade([[client, structs]])
}

/** One key of a map that many clients set concurrently. */
export const rivalSets = (count: number): Uint8Array => setsOf(count, () => 'k')

/** Many clients, each with a key of its own. */
export const manyClients = (count: number): Uint8Array => setsOf(count, String)

function setsOf(count: number, keyOf: (n: number) => string): Uint8Array {
  const clients = Array.from({ length: count }, (_, n): [number, Y.Item[]] => [
    n + 10,
    [item(n + 10, 0, new Y.ContentAny([n]), { parent: 'hostile', key: keyOf(n) })],
  ])
  return handMade(clients)
}

/** Edits of one editor, one after the other. */
export function edited(count: number): Uint8Array[] {
  const document = new Y.Doc()
  const updates: Uint8Array[] = []
  document.on('update', (update: Uint8Array) => updates.push(update))
  for (let n = 0; n < count; n++) document.getMap('hostile').set('n', n)
  return updates
}

/** A state vector with this number of clients. */
export function stateVector(clients: number): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, clients)
  for (let n = 0; n < clients; n++) {
    encoding.writeVarUint(encoder, n + 10)
    encoding.writeVarUint(encoder, 1)
  }
  return encoding.toUint8Array(encoder)
}

/** Empty maps in one list, which take much more memory than bytes. */
export function emptyMaps(updates: number, mapsEach: number): Uint8Array[] {
  return Array.from({ length: updates }, (_, at) => {
    const first = at * mapsEach
    const maps = Array.from({ length: mapsEach }, (_, n) => {
      const clock = first + n
      const place = clock === 0 ? { parent: 'maps' } : { origin: Y.createID(1, clock - 1) }
      return item(1, clock, new Y.ContentType(new Y.Map() as Y.ContentType['type']), place)
    })
    return handMade([[1, maps]])
  })
}

/** Long texts, one in each update. */
export const texts = (updates: number, characters: number): Uint8Array[] =>
  Array.from({ length: updates }, (_, n) =>
    handMade([[n + 1, [item(n + 1, 0, text('x'.repeat(characters)), { parent: `text ${n}` })]]]),
  )
