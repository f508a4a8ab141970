/** The keys of the canvas. They act while the focus is on the canvas, so that a letter elsewhere does nothing. */
import { useEffect } from 'react'
import type { OpenBoard, Place } from '../../../client/editor/index.ts'
import { useSurface } from '../surface.ts'
import { boardIdOf, group, nudge, removeAll, resize, toBack, toFront, turn, ungroup } from './actions.ts'
import { duplicate } from './copies.ts'

export interface KeyActions {
  addCard(at: Place): void
  /** Shows the selected cards, or all. */
  fit(): void
  deselect(): void
  help(): void
}

interface Pressed extends KeyActions {
  board: OpenBoard
  selected: ReadonlySet<string>
  select(ids: Iterable<string>): void
  hasShift: boolean
}

interface Key {
  keys: string[]
  does: string
  /** Whether it changes the board. It needs selected cards then, unless `alone`. */
  writes?: boolean
  alone?: boolean
  /** Absent for keys that the browser or xyflow hands on. */
  press?(pressed: Pressed): void
}

const remove = ({ board, selected, select }: Pressed) => {
  removeAll(board, selected)
  select([])
}

const turnDegrees = 15

/** The list that the help shows. `Ctrl` is also the Command key. */
export const keys: Key[] = [
  {
    keys: ['N'],
    does: 'Add a card',
    ...{ writes: true, alone: true },
    press: ({ addCard }) => addCard({ x: innerWidth / 2, y: innerHeight / 2 }),
  },
  { keys: ['Enter'], does: 'Select the card in focus, and then edit it' },
  { keys: ['Ctrl+Enter'], does: 'Add the card in focus to the selected ones, or take it out' },
  { keys: ['Shift+F10'], does: 'Show the menu of the card in focus, with its history' },
  { keys: ['Escape'], does: 'End editing, select nothing, stop following', press: (now) => now.deselect() },
  {
    keys: ['Ctrl+A'],
    does: 'Select all cards',
    press: ({ board, select }) => select(board.cards.get().map(({ id }) => id)),
  },
  { keys: ['Arrow keys'], does: 'Move the selected cards, with Shift by more', writes: true },
  { keys: ['Ctrl+Arrow keys'], does: 'Resize the selected cards, with Shift by more', writes: true },
  { keys: ['Delete', 'Backspace'], does: 'Remove the selected cards', writes: true, press: remove },
  { keys: ['Ctrl+C', 'Ctrl+X', 'Ctrl+V'], does: 'Copy, cut and paste cards, also to another board' },
  {
    keys: ['Ctrl+D'],
    does: 'Duplicate',
    writes: true,
    press: ({ board, selected, select }) => select(duplicate(board, boardIdOf(board), selected)),
  },
  {
    keys: ['Ctrl+G'],
    does: 'Group',
    writes: true,
    press: ({ board, selected }) => group(board, selected),
  },
  {
    keys: ['Ctrl+Shift+G'],
    does: 'Ungroup',
    writes: true,
    press: ({ board, selected }) => ungroup(board, selected),
  },
  { keys: [']'], does: 'To the front', writes: true, press: (now) => toFront(now.board, now.selected) },
  { keys: ['['], does: 'To the back', writes: true, press: (now) => toBack(now.board, now.selected) },
  {
    keys: ['.'],
    does: `Turn right by ${turnDegrees}°`,
    writes: true,
    press: ({ board, selected }) => turn(board, selected, turnDegrees),
  },
  {
    keys: [','],
    does: `Turn left by ${turnDegrees}°`,
    writes: true,
    press: ({ board, selected }) => turn(board, selected, -turnDegrees),
  },
  { keys: ['F'], does: 'Show all, or the selected cards', press: (now) => now.fit() },
  { keys: ['Ctrl+Z'], does: 'Undo' },
  { keys: ['Ctrl+Y', 'Ctrl+Shift+Z'], does: 'Redo' },
  { keys: ['Shift'], does: 'Hold it and drag to select several cards; Ctrl with a click adds one' },
  { keys: ['?'], does: 'Show this list', press: (now) => now.help() },
]

/** xyflow moves cards while one of them has the focus, by the same steps. */
const steps = { one: 5, withShift: 20 }

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const

const byArrow = (prefix: string, act: typeof nudge) =>
  Object.entries(arrows).flatMap(([name, [dx, dy]]) => {
    const key: Key = {
      keys: [],
      does: '',
      writes: true,
      press({ board, selected, hasShift }) {
        const px = hasShift ? steps.withShift : steps.one
        act(board, selected, dx * px, dy * px)
      },
    }
    return [[prefix + name, key] as const]
  })

const byKey = new Map([
  ...keys.flatMap((key) => (key.press ? key.keys.map((name) => [name, key] as const) : [])),
  ...byArrow('', nudge),
])
/** xyflow would take them for moves, so they are handled before it. */
const beforeXyflow = new Map([...byArrow('Ctrl+', resize), ...byArrow('Ctrl+Shift+', resize)])

function nameOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  const name = key.length === 1 ? key.toUpperCase() : key
  if (!ctrlKey && !metaKey) return name
  return shiftKey ? `Ctrl+Shift+${name}` : `Ctrl+${name}`
}

/** What takes keys itself. */
const others = 'input, textarea, select, [contenteditable], dialog, [role="dialog"], [role="menu"]'

/** Whether keys go to the canvas: it has the focus, or nothing has, and no dialog is open. */
export function isForCanvas({ target }: Event): boolean {
  if (!(target instanceof Element)) return false
  if (target.closest(others)) return false
  if (target === document.body) return document.querySelector('dialog[open]') === null
  return target.closest('.react-flow') !== null
}

export function useKeys(selected: ReadonlySet<string>, actions: KeyActions): void {
  const { board, canEdit, select } = useSurface()
  useEffect(() => {
    const take = (event: KeyboardEvent, among: ReadonlyMap<string, Key>) => {
      const key = among.get(nameOf(event))
      if (!key || event.defaultPrevented || event.altKey || !isForCanvas(event)) return
      // A letter alone needs the focus on the canvas: elsewhere a screen reader or a voice may send it.
      if (event.target === document.body && event.key.length === 1 && !event.ctrlKey && !event.metaKey) return
      if (key.writes && (!canEdit || (selected.size === 0 && !key.alone))) return
      event.preventDefault()
      event.stopPropagation()
      key.press!({ ...actions, board, selected, select, hasShift: event.shiftKey })
    }
    const first = (event: KeyboardEvent) => take(event, beforeXyflow)
    const later = (event: KeyboardEvent) => take(event, byKey)
    addEventListener('keydown', first, true)
    addEventListener('keydown', later)
    return () => {
      removeEventListener('keydown', first, true)
      removeEventListener('keydown', later)
    }
  }, [board, canEdit, select, selected, actions])
}
