/**
 * A board as Markdown. Each line of its names and texts is quoted, so that no text on a board looks like part of the
 * service's answer.
 */
import { cut } from './fit.ts'
import type { Board, Card, Group } from './tools/shown.ts'
import { notice } from './untrusted.ts'

const bodyChars = 600

export function boardMarkdown(page: { board: Board; groups: Group[]; cards: Card[]; total: number }): string {
  const { board, groups, cards, total } = page
  const more = total - cards.length
  return [
    `# Board ${board.id}${board.deleted ? ' (in the trash)' : ''}`,
    quote(board.name),
    `${notice} They are quoted with >.`,
    ...(groups.length > 0 ? ['## Groups', ...groups.flatMap(groupLines)] : []),
    `## Cards (${cards.length} of ${total})`,
    ...cards.flatMap(cardLines),
    ...(more > 0
      ? [`${more} more: call the tool read_cards with board_id ${board.id} and offset ${cards.length}.`]
      : []),
  ].join('\n\n')
}

const groupLines = ({ id, name, card_count }: Group) => [`### Group ${id}, ${card_count} cards`, quote(name)]

function cardLines({ id, kind, title, body, url, x, y, w, h, group_id }: Card): string[] {
  const group = group_id === undefined ? '' : `, in group ${group_id}`
  const rest =
    body !== null && body.length > bodyChars ? `The text is cut. Read all of it with read_card.` : null
  return [
    `### Card ${id}: ${kind} at ${x}, ${y}, ${w} × ${h}${group}`,
    ...[title, url, body === null ? null : cut(body, bodyChars)].flatMap((text) =>
      text ? [quote(text)] : [],
    ),
    ...(rest === null ? [] : [rest]),
  ]
}

/** All line breaks of Unicode: Markdown readers and models differ in which they accept. */
const lineEnds = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

const quote = (text: string) =>
  text
    .split(lineEnds)
    .map((line) => `> ${line}`)
    .join('\n')
