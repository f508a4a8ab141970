/** Lays out the selected cards, or the board, by the API, and shows it before it is written. */
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react'
import { Panel, useStoreApi } from '@xyflow/react'
import { allSaved } from '../../board/all-saved.ts'
import { previewLayout, type Layout, type Place } from '../../service/cards.ts'
import { noFrames, type Frames } from '../geometry.ts'
import { useSurface } from '../surface.ts'
import { write } from '../use-changes.ts'
import { boardIdOf } from './actions.ts'

const layouts: [Layout, string][] = [
  ['justified', 'Rows, flush on both sides'],
  ['masonry', 'Columns of one width'],
  ['grid', 'Cells of one size'],
  ['row', 'One row'],
  ['column', 'One column'],
]
const gaps = { least: 0, usual: 20, most: 200 }

interface ArrangeProps {
  selected: ReadonlySet<string>
  close(): void
  say(notice: string): void
}

export function Arrange({ selected, close, say }: ArrangeProps): ReactNode {
  const { board, showLayout } = useSurface()
  const [layout, setLayout] = useState<Layout>('justified')
  const [gap, setGap] = useState(gaps.usual)
  // The cards are those that were selected when it was opened.
  const [ids] = useState(() => (selected.size > 1 ? [...selected] : null))
  const { frames, fault, isCurrent } = useLayout(ids, layout, gap)
  useEffect(() => showLayout(frames ?? noFrames), [frames, showLayout])
  useEffect(() => () => showLayout(noFrames), [showLayout])
  const form = useRef<HTMLFormElement>(null)
  useFocusWithin(form)
  const apply = () => {
    // By the editor, so that undo takes it back like any other step.
    if (!frames || !isCurrent) return
    write(board, frames)
    say(`${ids ? ids.length : board.cards.get().length} cards are arranged. Undo takes it back.`)
    close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'Escape') close()
  }
  return (
    <Panel position="top-right">
      <form
        ref={form}
        className="arrange nopan nowheel"
        role="dialog"
        aria-label="Arrange cards"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault()
          apply()
        }}
      >
        <fieldset>
          <legend>Arrange {ids ? `${ids.length} cards` : 'the board'}</legend>
          {layouts.map(([name, says]) => (
            <label key={name}>
              <input type="radio" name="layout" checked={layout === name} onChange={() => setLayout(name)} />
              {says}
            </label>
          ))}
        </fieldset>
        <label>
          Gap
          <input
            type="number"
            min={gaps.least}
            max={gaps.most}
            value={gap}
            onChange={({ target }) =>
              setGap(Math.min(gaps.most, Math.max(gaps.least, target.valueAsNumber || 0)))
            }
          />
        </label>
        <p role="status">{isCurrent ? (fault ?? 'The board shows how it will be.') : 'Looking…'}</p>
        <div className="buttons">
          <button type="submit" className="main" disabled={!frames || !isCurrent}>
            Apply
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Panel>
  )
}

/** The form has the focus while it is there, and the canvas gets it back: the button that opened the form is gone. */
function useFocusWithin(form: RefObject<HTMLFormElement | null>): void {
  const store = useStoreApi()
  useLayoutEffect(() => {
    const shown = form.current!
    shown.querySelector('input')!.focus()
    return () => {
      if (shown.contains(document.activeElement)) store.getState().domNode?.focus({ preventScroll: true })
    }
  }, [form, store])
}

function useLayout(ids: string[] | null, layout: Layout, gap: number) {
  const { board } = useSurface()
  const asked = `${layout} ${gap}`
  const [shown, setShown] = useState<{ of: string | null; frames: Frames | null; fault: string | null }>({
    of: null,
    frames: null,
    fault: null,
  })
  useEffect(() => {
    let isCurrent = true
    const show = async () => {
      // The service lays out what it has.
      await allSaved(board)
      return previewLayout(boardIdOf(board), { layout, ids, gap })
    }
    show().then(
      (places) => isCurrent && setShown({ of: asked, frames: framesOf(places), fault: null }),
      (error: Error) => isCurrent && setShown({ of: asked, frames: null, fault: error.message }),
    )
    return () => {
      isCurrent = false
    }
  }, [board, ids, layout, gap, asked])
  // Until the service has answered, the board shows the layout that was asked for before.
  return { ...shown, isCurrent: shown.of === asked }
}

const framesOf = (places: Place[]): Frames => new Map(places.map(({ id, ...frame }) => [id, frame]))
