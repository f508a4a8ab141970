import Type from 'typebox'
import { cardFields } from '../../../core/card.ts'
import { listCards } from '../../cards/list.ts'
import { readCard as readRoute } from '../../cards/read.ts'
import { cut, fitting, pageEndAt } from '../fit.ts'
import { boardId, integer, items, nextOffset, object, orNull, pageInput, text } from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'
import { bodyChars, cardLine, showCard, withoutEmpty } from './shown.ts'

export const readCards = tool('read_cards', 'Read the cards of a board', {
  description: `Reads the current cards of a board, from back to front, with position and size. Texts over ${bodyChars} characters are cut: body_length is then the full length. read_card returns the whole text.`,
  route: listCards,
  input: {
    board_id: boardId,
    include: Type.Optional(
      Type.Array(Type.Unsafe<string>({ type: 'string', enum: ['props', 'identifiers'] }), {
        description: 'Fields to add to each card.',
      }),
    ),
    as_of: Type.Optional(
      text('Show the board as it was: an RFC 3339 time, or a position from board_history.'),
    ),
    ...pageInput(50),
  },
  output: {
    cards: items('Cards without empty fields; x, y, w, h in pixels.'),
    total: integer,
    ...nextOffset,
  },
  call: ({ board_id, include, as_of, limit, offset }) => ({
    params: { id: board_id },
    query: { limit, offset, as_of, include: include?.join(',') },
  }),
  show(answer, { board_id }) {
    const { cards, total, offset, has_more } = answer as Extract<typeof answer, { offset: number }>
    const shown = fitting(cards.map(showCard))
    const end = pageEndAt(shown.length, { items: cards, offset, has_more })
    return {
      said: `${count(shown.length, 'card')} of ${total}.${goOn(end)}`,
      lines: cards.slice(0, shown.length).map(cardLine),
      content: { board_id, cards: shown, total, offset, ...end },
    }
  },
})

/** Characters of a card's text that one call of read_card shows. */
const windowChars = 8000

export const readCard = tool('read_card', 'Read a card', {
  description: `Reads one card with all fields. One call returns ${windowChars.toLocaleString('en')} characters of its text; html is shown when there is no plain text.`,
  route: readRoute,
  input: {
    board_id: boardId,
    card_id: text('Id of the card, from read_cards.'),
    text_from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: cardFields.body.limit * 4,
        default: 0,
        description: 'next_text_from of the previous call.',
      }),
    ),
  },
  output: {
    card: object('Empty fields are left out.'),
    next_text_from: orNull('integer', 'null: there is no more text.'),
  },
  call: ({ board_id, card_id }) => ({ params: { id: board_id, cardId: card_id } }),
  show({ card }, { text_from: from = 0 }) {
    const field = card.body === null && card.html !== null ? 'html' : 'body'
    const text = card[field] ?? ''
    const part = cut(text.slice(from), windowChars)
    const next = from + part.length < text.length ? from + part.length : null
    const { html: _html, body: _body, ...rest } = card
    const shown = withoutEmpty({
      ...rest,
      ...(part === '' ? {} : { [field]: part }),
      ...(part.length < text.length ? { body_length: text.length } : {}),
    })
    return {
      said:
        next === null
          ? 'The card.'
          : `The card, with a part of its text. For the next part, call again with text_from ${next} (of ${text.length}).`,
      lines: [shown],
      content: { card: shown, next_text_from: next },
    }
  },
})
