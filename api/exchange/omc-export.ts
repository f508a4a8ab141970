/**
 * A board as OMC-JSON 2.8 (MovieLabs, https://movielabs.com/omc/json/schema/v2.8): an array of entities, in chunks. The
 * board is a Collection that refers to its cards, its groups and its child boards. A card is an Asset with its structural
 * characteristics inline. A group is an Asset of Assets.
 *
 * Fields that OMC does not define are in `customData`, under the domain `corkboard`. The service's own identifier is first.
 */
import type { CapturedCard } from '../../collab/boards/capture.ts'
import type { Identifier } from '../../core/card-values.ts'
import type { CardContent, CardTimes } from '../../core/card.ts'
import type { PresentedGroup } from '../../collab/boards/groups.ts'
import { LoopTurn } from '../../platform/work/loop-turn.ts'
import { chunkChars, notIndexed, safeContents, type Exported } from './json-export.ts'

const schemaVersion = 'https://movielabs.com/omc/json/schema/v2.8'
/** Cards whose HTML is sanitised together. */
const cardsAtOnce = 50

export async function* omcExport(exported: Exported): AsyncGenerator<string> {
  const turn = new LoopTurn()
  let chunk = '['
  let separator = ''
  for await (const entity of entitiesOf(exported)) {
    if (turn.isOver()) await turn.next()
    chunk += separator + JSON.stringify(entity)
    separator = ','
    if (chunk.length < chunkChars) continue
    yield chunk
    chunk = ''
  }
  yield `${chunk}]`
}

type Entity = Record<string, unknown>

async function* entitiesOf(exported: Exported): AsyncGenerator<Entity> {
  const boardId = String(exported.board['id'])
  yield boardEntity(boardId, exported)
  const members = Map.groupBy(exported.cards, ({ content }) => content.group_id)
  for (const group of exported.groups) yield groupEntity(boardId, group, members.get(group.id) ?? [])
  for (let from = 0; from < exported.cards.length; from += cardsAtOnce) {
    const cards = exported.cards.slice(from, from + cardsAtOnce)
    const contents = await safeContents(exported, cards)
    for (const [at, { id }] of cards.entries())
      yield cardEntity(boardId, id, contents[at]!, exported.times.get(id) ?? notIndexed)
  }
}

// Ids of cards and groups are unique on their board.
const boardIdentifier = (id: string) => identifier('board', id)
const cardIdentifier = (boardId: string, id: string) => identifier('card', `${boardId}/${id}`)
const groupIdentifier = (boardId: string, id: string) => identifier('group', `${boardId}/${id}`)

function identifier(of: string, value: string) {
  return { identifierScope: `corkboard.${of}`, identifierValue: value }
}

const foreign = (identifiers: Identifier[]) =>
  identifiers.map(({ scope, value }) => ({ identifierScope: scope, identifierValue: value }))

const reference = (one: object) => ({ identifier: [one] })

const customData = (namespace: string, value: object) => [{ domain: 'corkboard', namespace, value }]

function boardEntity(boardId: string, { board, groups, cards, children, exportedAt }: Exported): Entity {
  const { id: _, name, identifiers, ...rest } = board
  return {
    schemaVersion,
    entityType: 'Collection',
    identifier: [boardIdentifier(boardId), ...foreign(identifiers as Identifier[])],
    name,
    collectionType: 'collection',
    includes: {
      Asset: [
        ...groups.map(({ id }) => reference(groupIdentifier(boardId, id))),
        ...cards.map(({ id }) => reference(cardIdentifier(boardId, id))),
      ],
      Collection: children.map(({ id }) => reference(boardIdentifier(id))),
    },
    customData: customData('board', { ...rest, exported_at: exportedAt }),
  }
}

function groupEntity(boardId: string, group: PresentedGroup, members: CapturedCard[]): Entity {
  const { id, name, created_at, color, shape, outline } = group
  return {
    schemaVersion,
    entityType: 'Asset',
    identifier: [groupIdentifier(boardId, id)],
    name,
    Asset: members.map((card) => reference(cardIdentifier(boardId, card.id))),
    AssetSC: {
      schemaVersion,
      entityType: 'AssetSC',
      identifier: [identifier('group-structure', `${boardId}/${id}`)],
      structuralType: 'assetGroup',
      structuralProperties: { assetGroup: { isOrdered: false } },
    },
    ...provenance(created_at),
    customData: customData('group', { color, shape, outline }),
  }
}

function cardEntity(boardId: string, id: string, content: CardContent, times: CardTimes): Entity {
  const { kind, title, body, identifiers, mime, ext, file_name, image_key, file_key, ...rest } = content
  const fileDetails = {
    fileName: file_name,
    filePath: file_key ?? image_key,
    fileExtension: ext,
    mediaType: mime,
  }
  return {
    schemaVersion,
    entityType: 'Asset',
    identifier: [cardIdentifier(boardId, id), ...foreign(identifiers)],
    name: title,
    description: body,
    AssetSC: {
      schemaVersion,
      entityType: 'AssetSC',
      identifier: [identifier('card-structure', `${boardId}/${id}`)],
      structuralType: structuralType(kind, mime),
      ...(Object.values(fileDetails).some((value) => value !== null)
        ? { structuralProperties: { fileDetails } }
        : {}),
    },
    ...provenance(times.created_at),
    customData: customData('card', { kind, image_key, file_key, ...rest, updated_at: times.updated_at }),
  }
}

/** `instanceInfo.createdOn` would fit better, but it is a date without a time. */
const provenance = (createdOn: string | null) =>
  createdOn !== null && dateTime.test(createdOn) ? { provenance: { createdOn } } : {}
/** An editor can write any text as a group's time, so it is validated. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/

const ofKind: Record<string, string> = {
  note: 'digital.document',
  link: 'digital.document',
  doc: 'digital.structuredDocument',
  image: 'digital.image',
  video: 'digital.audioVisual',
  audio: 'digital.audio',
  pdf: 'digital.document',
}

function structuralType(kind: string, mime: string | null): string {
  if (Object.hasOwn(ofKind, kind)) return ofKind[kind]!
  const type = mime?.toLowerCase() ?? ''
  if (type.startsWith('image/')) return 'digital.image'
  if (type.startsWith('video/')) return 'digital.audioVisual'
  if (type.startsWith('audio/')) return 'digital.audio'
  return type.startsWith('text/') || type === 'application/pdf' ? 'digital.document' : 'digital.data'
}
