/** Words for what changed on a board. */
import type { Answer, Row } from '../../client/operations.ts'

export type HistoryEntry = Row<'GET /boards/{id}/history'>
export type Difference = Answer<'GET /boards/{id}/diff'>['cards'][number]
export type BroughtBack = Answer<'POST /boards/{id}/restore-to'>['changes'][number]
export type LeftAlone = Answer<'POST /boards/{id}/undo'>['not_undone'][number]

/** Who made a change, apart from people on the canvas. */
export const ways: Readonly<Partial<Record<HistoryEntry['by'], string>>> = {
  api: 'API',
  agent: 'Agent',
  import: 'Import',
  move: 'Move',
}

const fieldNames: Record<string, string> = {
  ...{ x: 'place', y: 'place', w: 'size', h: 'size', z: 'order', rotation: 'rotation' },
  ...{ body: 'text', html: 'text', content: 'text', title: 'title', sub: 'subtitle', color: 'colour' },
  ...{ group_id: 'group', image_key: 'picture', file_key: 'file', url: 'address', props: 'properties' },
  ...{ section_header: 'section', outline: 'outline', shape: 'shape', name: 'name', '*': 'everything' },
}

/** `place, text`. Each name once. */
export const fieldsText = (fields: readonly string[]): string =>
  [...new Set(fields.map((field) => fieldNames[field] ?? field))].join(', ')

const doings = { created: 'comes back', changed: 'changes back', removed: 'is removed' } as const

export const doingOf = ({ change, fields }: BroughtBack): string =>
  change === 'changed' && fields.length > 0 ? `${doings.changed}: ${fieldsText(fields)}` : doings[change]

const reasons: Record<LeftAlone['reason'], string> = {
  changed_since: 'somebody else has changed it since',
  gone: 'somebody has removed it since',
  exists: 'it is on the board again already',
  in_use: 'others have put cards into the group',
  identifier_taken: 'another card has its identifier by now',
  moved: 'it was moved between boards. Move it back there',
  together: 'several people edited it at the same moment',
  needs_delete: 'you may not remove cards',
  expunged: 'what it was has been removed for good',
}

export const reasonOf = ({ reason }: LeftAlone): string => reasons[reason]

/** Entries by days, in the person's time zone. */
export function byDay(entries: readonly HistoryEntry[], dayOf: (at: string) => string) {
  return [...Map.groupBy(entries, ({ at }) => dayOf(at))]
}
