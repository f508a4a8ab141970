/** The board as a list in reading order, for keyboards, screen readers and small screens. */
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react'
import type { EditorCard as Card, OpenBoard } from '../../client/editor/index.ts'
import { useCards, useGroups, useStore } from '../../client/react/index.ts'
import { useUndoKeys } from '../board/undo-keys.ts'
import { useGoal, type Goal } from '../board/use-goal.ts'
import { textOf } from '../board/values.ts'
import { CardFields } from '../contents/card-fields.tsx'
import { Contents } from '../contents/contents.tsx'
import { isKnownKind, kindName, labelOf } from '../contents/kinds.ts'
import { Later, part } from '../controls/later.tsx'
import { AddFiles } from '../files/add-files.tsx'
import type { Intake } from '../files/intake.ts'
import { useReceive } from '../files/receive.ts'
import type { Place } from '../files/side-by-side.ts'
import { partsOf, type Part } from './reading-order.ts'

interface ListProps {
  board: OpenBoard
  canEdit: boolean
  goal: Goal
  intake: Intake
  /** Shows the history of a card. Null: this person has no account, and sees none. */
  showHistory: ((cardId: string) => void) | null
}

interface Shared extends Pick<ListProps, 'board' | 'canEdit' | 'showHistory'> {
  editing: string | null
  edit(id: string | null): void
}

const newCard = { w: 280, h: 180 }
/** Thousands of cards at once would take seconds to render. */
const step = 300

export function List({ board, canEdit, goal, intake, showHistory }: ListProps): ReactNode {
  const [cards, groups] = [useCards(board), useGroups(board)]
  const parts = useMemo(() => partsOf(cards, groups), [cards, groups])
  const [editing, edit] = useState<string | null>(null)
  const [most, setMost] = useState(step)
  useLead(board, goal, setMost)
  const below = () => placeBelow(cards)
  useUndoKeys(board, canEdit)
  useReceive(canEdit, (gift) => intake.take(gift, below()))
  const addCard = () => {
    board.newStep()
    edit(board.cards.add({ kind: 'note', ...below(), ...newCard }))
    setMost(Infinity)
  }
  return (
    <div className="list">
      <div className="list-inner">
        {canEdit && (
          <div className="actions">
            <button type="button" className="main" onClick={addCard}>
              Add card
            </button>
            <AddFiles take={(files) => intake.take({ files, folders: [], text: '' }, below())} />
            <Undo board={board} />
          </div>
        )}
        {cards.length === 0 && (
          <p className="quiet">
            {canEdit ? 'There is no card yet. Add the first one.' : 'There is no card yet.'}
          </p>
        )}
        {firstOf(parts, most).map((part) => (
          <PartOfBoard key={part.id} part={part} shared={{ board, canEdit, showHistory, editing, edit }} />
        ))}
        {cards.length > most && (
          <button type="button" onClick={() => setMost(most + step)}>
            Show {Math.min(step, cards.length - most)} more of {cards.length} cards
          </button>
        )}
      </div>
      <Progress intake={intake} />
    </div>
  )
}

/** Leads to the card that the address names, wherever in the list it is. */
function useLead(board: OpenBoard, goal: Goal, setMost: (most: number) => void): void {
  /** A new one for each visit. */
  const [reached, reach] = useState<Pick<Card, 'id'> | null>(null)
  const lead = useCallback(
    ({ id }: Card) => {
      setMost(Infinity)
      reach({ id })
    },
    [setMost],
  )
  useGoal(board, goal, true, lead)
  useEffect(() => {
    if (!reached) return
    const entry = document.getElementById(entryId(reached))
    entry?.scrollIntoView({ block: 'center' })
    entry?.focus({ preventScroll: true })
  }, [reached])
}

const entryId = ({ id }: Pick<Card, 'id'>) => `card ${id}`

/** The parts with the first cards. Headings count as cards. */
function firstOf(parts: readonly Part[], most: number): Part[] {
  let left = most
  return parts.flatMap((part) => {
    if (left <= 0) return []
    const cards = part.cards.slice(0, left)
    left -= cards.length + (part.under && 'header' in part.under ? 1 : 0)
    return [{ ...part, cards }]
  })
}

/** New cards come under everything, so that they are last here, and cover nothing on the canvas. */
function placeBelow(cards: readonly Card[]): Place {
  const left = Math.min(...cards.map(({ x }) => x))
  const bottom = Math.max(...cards.map(({ y, h }) => y + h))
  return cards.length === 0 ? { x: 0, y: 0 } : { x: left, y: bottom + 40 }
}

function PartOfBoard({ part: { under, cards }, shared }: { part: Part; shared: Shared }): ReactNode {
  const heading = under && ('group' in under ? under.group.name : under.header.title)
  return (
    <section aria-label={heading ?? undefined}>
      {under && <Heading under={under} shared={shared} />}
      {cards.length > 0 && (
        <ul>
          {cards.map((card) => (
            <Item key={card.id} card={card} shared={shared} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Heading({ under, shared }: { under: NonNullable<Part['under']>; shared: Shared }): ReactNode {
  if ('header' in under) return <Entry card={under.header} shared={shared} />
  const { name, color } = under.group
  return (
    <h2 className="group-name" style={tintOf(color)}>
      {name}
    </h2>
  )
}

const Item = ({ card, shared }: { card: Card; shared: Shared }): ReactNode => (
  <li>
    <Entry card={card} shared={shared} />
  </li>
)

function Entry({ card, shared }: { card: Card; shared: Shared }): ReactNode {
  const { board, canEdit, editing, edit } = shared
  const isSection = card['section_header'] === true
  const isEdited = editing === card.id && canEdit
  return (
    <article
      id={entryId(card)}
      tabIndex={-1}
      className={isSection ? 'entry section' : 'entry'}
      aria-label={labelOf(card)}
      style={tintOf(card['color'])}
    >
      {!isSection && isKnownKind(card.kind) && <p className="kind">{kindName(card.kind)}</p>}
      {isEdited ? (
        <Form board={board} card={card} close={() => edit(null)} />
      ) : (
        <div className={`card ${isSection ? 'section' : isKnownKind(card.kind) ? card.kind : 'foreign'}`}>
          <Contents card={card} />
        </div>
      )}
      <Actions {...{ card, shared, isEdited }} />
    </article>
  )
}

interface ActionsProps {
  card: Card
  shared: Shared
  isEdited: boolean
}

function Actions({ card, shared, isEdited }: ActionsProps): ReactNode {
  const { board, canEdit, edit, showHistory } = shared
  const button = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  // Who has edited by keyboard goes on where they were.
  useEffect(() => {
    if (wasEdited.current && !isEdited && document.activeElement === document.body) button.current?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  const remove = () => {
    focusNext(button.current)
    board.newStep()
    board.cards.remove(card.id)
  }
  return (
    <div className="actions" hidden={isEdited}>
      {canEdit && (
        <button ref={button} type="button" className="plain edit" onClick={() => edit(card.id)}>
          Edit<span className="hidden"> {labelOf(card)}</span>
        </button>
      )}
      {showHistory && (
        <button type="button" className="plain" onClick={() => showHistory(card.id)}>
          History<span className="hidden"> of {labelOf(card)}</span>
        </button>
      )}
      {canEdit && (
        <button type="button" className="plain" onClick={remove}>
          Remove<span className="hidden"> {labelOf(card)}</span>
        </button>
      )}
    </div>
  )
}

/** The card after this one, or before the last one, gets the focus, so that a keyboard does not begin anew. */
function focusNext(button: HTMLButtonElement | null): void {
  const all = [...document.querySelectorAll<HTMLElement>('.entry .edit')]
  const at = all.indexOf(button!)
  ;(all[at + 1] ?? all[at - 1])?.focus()
}

function Undo({ board }: { board: OpenBoard }): ReactNode {
  const { canUndo, canRedo } = useStore(board.history)
  return (
    <>
      <button type="button" disabled={!canUndo} onClick={board.undo}>
        Undo
      </button>
      <button type="button" disabled={!canRedo} onClick={board.redo}>
        Redo
      </button>
    </>
  )
}

/** Colours come from editors, and can be anything. */
function tintOf(value: unknown): { '--tint'?: string } {
  const color = textOf(value)
  return color !== null && CSS.supports('color', color) ? { '--tint': color } : {}
}

function Form({ board, card, close }: { board: OpenBoard; card: Card; close(): void }): ReactNode {
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const field = form.current!.querySelector('input')!
    field.focus()
    field.setSelectionRange(field.value.length, field.value.length)
  }, [])
  return (
    <div ref={form} className="form" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <CardFields board={board} card={card} />
      <button type="button" onClick={close}>
        Done
      </button>
    </div>
  )
}

const Tray = part(async () => (await import('../files/tray.tsx')).Tray)

function Progress({ intake: { jobs, carrier } }: { intake: Intake }): ReactNode {
  const isEmpty = useSyncExternalStore(jobs.subscribe, () => jobs.get().length === 0)
  if (isEmpty) return null
  return (
    <div className="list-tray">
      <Later>
        <Tray {...{ jobs, carrier, show: null }} />
      </Later>
    </div>
  )
}
