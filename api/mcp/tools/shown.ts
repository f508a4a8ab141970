/** Boards and cards as tools show them: without empty fields, and with long texts cut. */
import type { Static } from 'typebox'
import type { Board as BoardSchema, Group as GroupSchema, ShownCard } from '../../http/schemas.ts'
import { cut } from '../fit.ts'

export type Board = Static<typeof BoardSchema>
export type Card = ShownCard
export type Group = Static<typeof GroupSchema>

/** Characters of a card's text that lists show. */
export const bodyChars = 600
const lineChars = 200

export const showBoard = (board: Board) => withoutEmpty(board)
export const boardLine = ({ id, name, parent_board_id }: Board) => withoutEmpty({ id, name, parent_board_id })

export function showCard({ html: _html, created_at: _made, z: _z, ...card }: Card) {
  const { body } = card
  if (body === null || body.length <= bodyChars) return withoutEmpty(card)
  return withoutEmpty({ ...card, body: cut(body, bodyChars), body_length: body.length })
}

export const cardLine = ({ id, kind, title, body, url }: Card) =>
  withoutEmpty({ id, kind, title, text: body === null ? null : cut(body, lineChars), url })

/** A card as tools that write return it: the fields that the service may have set. */
export const showPlaced = ({ id, version, kind, title, x, y, w, h, group_id, created }: Card) =>
  withoutEmpty({ id, version, kind, title, x, y, w, h, group_id, created })

/** The fields without null, undefined and empty lists. */
export const withoutEmpty = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  )
