/** The history of a board: what changed, a slider through it, named versions, and ways back. */
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { usePages, type Pages } from '../controls/use-pages.ts'
import { timeText } from '../controls/when.tsx'
import { request } from '../service/request.ts'
import type { HistoryEntry } from './changes.ts'
import { Differences } from './differences.tsx'
import { Entries } from './entries.tsx'
import { usePast } from './past.ts'
import { Restore } from './restore.tsx'
import { Timeline } from './timeline.tsx'
import { Undo } from './undo.tsx'
import type { Moment, View } from './moment.ts'
import { NameVersion, Versions } from './versions.tsx'

export interface HistoryProps {
  boardId: string
  live: OpenBoard
  /** Opens the board as it was. */
  openAt(asOf: string): OpenBoard
  canWrite: boolean
  /** The canvas shows a board of the past, or with null the present. */
  show(past: OpenBoard | null): void
  close(): void
}

const pageSize = 100

export default function HistoryPanel(props: HistoryProps): ReactNode {
  const { boardId, live, openAt, canWrite, show, close } = props
  const [moment, setMoment] = useState<Moment | null>(null)
  const [view, setView] = useState<View>({ is: 'changes' })
  const [past, setPast] = useState<OpenBoard | null>(null)
  const { pages, keptSince } = useChanges(boardId)
  const showBoth = useCallback(
    (board: OpenBoard | null) => {
      setPast(board)
      show(board)
    },
    [show],
  )
  const fault = usePast(openAt, moment?.asOf ?? null, showBoth)
  useNews(live, moment === null, pages.reload)
  const titleOf = (id: string) => titleIn(past, id) ?? titleIn(live, id) ?? 'A card'
  const done = async () => {
    setMoment(null)
    setView({ is: 'changes' })
    await pages.reload()
  }
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const shared = { boardId, moment, setMoment, view, setView, canWrite }
  return (
    <aside className="side" aria-label="History">
      <header>
        <h2 ref={heading} tabIndex={-1}>
          History
        </h2>
        <button type="button" className="plain" onClick={close}>
          Close
        </button>
      </header>
      <Timeline {...shared} entries={pages.rows ?? []} fault={fault} />
      <div className="below">
        <Below {...shared} {...{ live, pages, keptSince, titleOf, done }} />
      </div>
    </aside>
  )
}

function useChanges(boardId: string) {
  const [keptSince, setKeptSince] = useState<string | null>(null)
  const pages = usePages(boardId, async (cursor) => {
    const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }
    const page = await request('GET /boards/{id}/history', { path: { id: boardId }, query })
    setKeptSince(page.kept_since)
    return { rows: page.entries, next: page.next_cursor }
  })
  return { pages, keptSince }
}

interface BelowProps {
  boardId: string
  live: OpenBoard
  moment: Moment | null
  setMoment(moment: Moment | null): void
  view: View
  setView(view: View): void
  canWrite: boolean
  pages: Pages<HistoryEntry>
  keptSince: string | null
  titleOf(id: string): string
  /** The board was changed: shows it as it is now. */
  done(): Promise<void>
}

/** What is below the slider: a list, or one step that began in it. */
function Below({ view, live, pages, keptSince, titleOf, done, ...shared }: BelowProps): ReactNode {
  const { boardId, moment, setView } = shared
  const back = () => setView({ is: 'changes' })
  const step = { boardId, titleOf, back, done }
  if (view.is === 'name')
    return (
      <NameVersion {...{ boardId, live, moment }} close={back} done={() => setView({ is: 'versions' })} />
    )
  if (view.is === 'undo') return <Undo {...step} entry={view.entry} />
  if (view.is === 'entry') return <Differences {...step} {...spanOf(view.entry)} />
  if (view.is === 'restore' && moment) return <Restore {...step} moment={moment} />
  if (view.is === 'since' && moment) return <Differences {...step} title="Changed since" from={moment.asOf} />
  const of = view.is === 'versions' ? 'versions' : 'changes'
  return (
    <>
      <Tabs {...{ of, setView }} />
      {of === 'changes' ? <Entries {...shared} {...{ pages, keptSince }} /> : <Versions {...shared} />}
    </>
  )
}

const spanOf = ({ at, before, position }: HistoryEntry) => ({
  title: timeText(at, 'exact'),
  from: String(before),
  to: String(position),
})

function Tabs({ of, setView }: { of: 'changes' | 'versions'; setView(view: View): void }): ReactNode {
  const tabs = { changes: 'Changes', versions: 'Named versions' } as const
  return (
    <div className="tabs" role="group" aria-label="What to list">
      {(Object.keys(tabs) as (keyof typeof tabs)[]).map((is) => (
        <button key={is} type="button" aria-pressed={is === of} onClick={() => setView({ is })}>
          {tabs[is]}
        </button>
      ))}
    </div>
  )
}

/** The board's changes go into its history within moments. */
const newsMs = 3000

/** Reads the history again while the board is edited. */
function useNews(live: OpenBoard, isPresent: boolean, reload: () => Promise<void>): void {
  useEffect(() => {
    if (!isPresent) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = live.cards.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        void reload()
      }, newsMs)
    })
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [live, isPresent, reload])
}

const longestTitle = 60

function titleIn(board: OpenBoard | null, id: string): string | null {
  const card = board?.cards.find(id)
  if (!card) return null
  const text = card.title?.trim() || card.body.trim() || card.kind
  return text.length > longestTitle ? `${text.slice(0, longestTitle)}…` : text
}
