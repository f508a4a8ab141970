/** What one can do with the selected cards. The keys do most of it, too. */
import { useRef, type ReactNode } from 'react'
import { Panel } from '@xyflow/react'
import type { EditorCard as Card, EditorGroup } from '../../../client/editor/index.ts'
import { useCards, useGroups } from '../../../client/react/index.ts'
import { useSurface } from '../surface.ts'
import { write } from '../use-changes.ts'
import {
  boardIdOf,
  cardsOf,
  changeAll,
  group,
  removeAll,
  step,
  toBack,
  toFront,
  turn,
  ungroup,
} from './actions.ts'
import { aligned, alignments, distributed, type Alignment } from './align.ts'
import { duplicate } from './copies.ts'
import { Menu } from './menu.tsx'
import type { Clipboard } from './use-clipboard.ts'

const act = (does: () => void) => ({ type: 'button', onClick: does }) as const

interface BarProps {
  selected: ReadonlySet<string>
  clipboard: Clipboard
  arrange(): void
}

export function SelectionBar({ selected, clipboard, arrange }: BarProps): ReactNode {
  const { board, select } = useSurface()
  useCards(board)
  const cards = cardsOf(board, selected)
  if (cards.length === 0) return null
  const several = cards.length > 1
  return (
    <Panel position="top-center">
      <div className="toolbar selection" role="toolbar" aria-label="Selected cards">
        <Menu label="Colour">
          <Swatches
            current={cards.map((card) => card['color'] ?? null)}
            choose={(color) => changeAll(board, selected, () => ({ color }))}
          />
        </Menu>
        <PlaceMenu selected={selected} />
        {several && <AlignMenu cards={cards} />}
        {several && <button {...act(arrange)}>Arrange…</button>}
        <Grouping cards={cards} />
        {cards.every(({ kind }) => kind === 'note' || kind === 'doc') && <Heading cards={cards} />}
        <button {...act(clipboard.copy)}>Copy</button>
        <button {...act(() => select(duplicate(board, boardIdOf(board), selected)))}>Duplicate</button>
        <button
          {...act(() => {
            removeAll(board, selected)
            select([])
          })}
        >
          Remove
        </button>
      </div>
    </Panel>
  )
}

function PlaceMenu({ selected }: { selected: ReadonlySet<string> }): ReactNode {
  const { board } = useSurface()
  return (
    <Menu label="Place">
      <button {...act(() => toFront(board, selected))}>To the front</button>
      <button {...act(() => toBack(board, selected))}>To the back</button>
      <button {...act(() => turn(board, selected, 15))}>Turn right</button>
      <button {...act(() => turn(board, selected, -15))}>Turn left</button>
      <button {...act(() => changeAll(board, selected, () => ({ rotation: 0 })))}>Straighten</button>
    </Menu>
  )
}

/** Soft, so that text is easy to read on them, light and dark. */
const colors = [
  ['Yellow', '#ffd966'],
  ['Orange', '#f9cb9c'],
  ['Pink', '#f4b6c2'],
  ['Purple', '#b4a7d6'],
  ['Blue', '#7aa2f7'],
  ['Teal', '#76a5af'],
  ['Green', '#93c47d'],
  ['Grey', '#9aa0a6'],
] as const

interface SwatchesProps {
  current: unknown[]
  choose(color: string | null): void
}

const Swatches = ({ current, choose }: SwatchesProps): ReactNode => (
  <div className="swatches">
    {[['No colour', null] as const, ...colors].map(([name, color]) => (
      <button
        key={name}
        type="button"
        className="swatch"
        aria-label={name}
        title={name}
        aria-pressed={current.every((one) => one === color)}
        style={color === null ? {} : { '--tint': color }}
        onClick={() => choose(color)}
      />
    ))}
  </div>
)

function AlignMenu({ cards }: { cards: Card[] }): ReactNode {
  const { board } = useSurface()
  return (
    <Menu label="Align">
      {(Object.keys(alignments) as Alignment[]).map((how) => (
        <button key={how} type="button" onClick={() => write(board, aligned(cards, how))}>
          {alignments[how].label}
        </button>
      ))}
      {cards.length > 2 && (
        <>
          <button type="button" onClick={() => write(board, distributed(cards, 'x'))}>
            Spread across
          </button>
          <button type="button" onClick={() => write(board, distributed(cards, 'y'))}>
            Spread down
          </button>
        </>
      )}
    </Menu>
  )
}

/** The heading of a section: a title without a frame. */
function Heading({ cards }: { cards: Card[] }): ReactNode {
  const { board } = useSurface()
  const isHeading = cards.every((card) => card['section_header'] === true)
  const ids = cards.map(({ id }) => id)
  return (
    <button
      type="button"
      aria-pressed={isHeading}
      onClick={() => changeAll(board, ids, () => ({ section_header: isHeading ? null : true }))}
    >
      Heading
    </button>
  )
}

function Grouping({ cards }: { cards: Card[] }): ReactNode {
  const { board } = useSurface()
  const ids = cards.map(({ id }) => id)
  const groups = new Set(cards.map((card) => card.group_id))
  const only = useGroups(board).find(({ id }) => groups.size === 1 && groups.has(id))
  if (!only)
    return (
      <button type="button" onClick={() => group(board, ids)}>
        Group
      </button>
    )
  return (
    <Menu label="Group">
      <GroupFields key={only.id} group={only} />
      <button type="button" onClick={() => ungroup(board, ids)}>
        Ungroup
      </button>
    </Menu>
  )
}

function GroupFields({ group: { id, name, shape, outline, color } }: { group: EditorGroup }): ReactNode {
  const { board } = useSurface()
  // While the field has the focus, somebody else may rename the group.
  const before = useRef(name)
  const change = (fields: Partial<Omit<EditorGroup, 'id'>>) =>
    step(board, () => board.groups.change(id, fields))
  return (
    <>
      <input
        aria-label="Name of the group"
        maxLength={200}
        defaultValue={name}
        onFocus={({ target }) => {
          target.value = name
          before.current = name
        }}
        onBlur={({ target }) => {
          const given = target.value.trim()
          if (given !== '' && given !== before.current) change({ name: given })
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur()
        }}
      />
      <Swatches current={[color]} choose={(chosen) => change({ color: chosen })} />
      <button
        type="button"
        aria-pressed={shape === 'hug'}
        onClick={() => change({ shape: shape === 'hug' ? 'box' : 'hug' })}
      >
        Follow the cards’ outline
      </button>
      <button type="button" aria-pressed={outline} onClick={() => change({ outline: !outline })}>
        Draw the outline
      </button>
    </>
  )
}
