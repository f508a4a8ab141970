import Type from 'typebox'
import { cardFields } from '../../../core/card.ts'
import { listCards } from '../../cards/list.ts'
import { readCard as readRoute } from '../../cards/read.ts'
import { cut, fitting, pageEndAt } from '../fit.ts'
import { boardId, integer, items, nextOffset, object, orNull, pageInput, string } from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'
import { bodyChars, cardLine, showCard, withoutEmpty, type Card } from './shown.ts'

export const readCards = tool({
  name: 'read_cards',
  title: 'Read the cards of a board',
  description: `Reads the cards of a board as they are on the canvas now, from back to front, with place and size. Texts over ${bodyChars} characters are cut and have body_length; read_card gives them whole.`,
  route: listCards,
  input: {
    board_id: boardId,
    include: Type.Optional(
      Type.Array(Type.Unsafe<string>({ type: 'string', enum: ['props', 'identifiers'] }), {
        description: 'Fields to add to each card.',
      }),
    ),
    ...pageInput(50),
  },
  output: {
    cards: items('Cards with all that is not empty; x, y, w, h in pixels.'),
    total: integer,
    ...nextOffset,
  },
  call: ({ board_id, include, limit, offset }) => ({
    params: { id: board_id },
    query: { limit, offset, ...(include === undefined ? {} : { include: include.join(',') }) },
  }),
  show(
    { cards, total, offset, has_more }: { cards: Card[]; total: number; offset: number; has_more: boolean },
    { board_id },
  ) {
    const shown = fitting(cards.map(showCard))
    const end = pageEndAt(shown.length, { items: cards, offset, has_more })
    return {
      said: `${count(shown.length, 'card')} of ${total}.${goOn(end)}`,
      lines: cards.slice(0, shown.length).map(cardLine),
      content: { board_id, cards: shown, total, offset, ...end },
    }
  },
})

/** Characters of its text that one call shows. */
const windowChars = 8000

export const readCard = tool({
  name: 'read_card',
  title: 'Read a card',
  description: `Reads one card whole, with properties and identifiers. Its text comes ${windowChars.toLocaleString('en')} characters at a time; html is shown when there is no plain text.`,
  route: readRoute,
  input: {
    board_id: boardId,
    card_id: string('Id of the card, from read_cards.'),
    text_from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: cardFields.body.limit * 4,
        default: 0,
        description: 'next_text_from of the call before.',
      }),
    ),
  },
  output: {
    card: object('What is empty is left out.'),
    next_text_from: orNull('integer', 'null: the text ends here.'),
  },
  call: ({ board_id, card_id }) => ({ params: { id: board_id, cardId: card_id } }),
  show({ card }: { card: Card }, { text_from: from = 0 }) {
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
          : `The card, with a part of its text: it goes on with text_from ${next} (of ${text.length}).`,
      lines: [shown],
      content: { card: shown, next_text_from: next },
    }
  },
})
