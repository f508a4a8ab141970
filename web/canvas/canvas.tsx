/** The canvas of an open board. */
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
} from 'react'
import {
  Background,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type ReactFlowProps,
  type Viewport,
} from '@xyflow/react'
import type { OpenBoard, Place } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'
import type { Goal } from '../board/use-goal.ts'
import { ScaleContext } from '../contents/scale.ts'
import { Later, part } from '../controls/later.tsx'
import type { Intake } from '../files/intake.ts'
import { CardNode } from './card-node.tsx'
import { boundsOf, boxOf, type Box } from './geometry.ts'
import { GroupNode } from './group-node.tsx'
import { nodesOf, type BoardNode } from './nodes.ts'
import { SurfaceContext, type Surface } from './surface.ts'
import { Toolbar } from './toolbar.tsx'
import { useChanges, type Changes } from './use-changes.ts'
import { useMiddle } from './use-middle.ts'
import { useScale } from './use-scale.ts'
import { firstView, useFit, useIsFar, useRegion, zooms, type Size } from './view.ts'

/** What one does with cards. The first look at a board does not need it. */
const Tools = part(async () => (await import('./tools/tools.tsx')).Tools)

const After = part(async () => (await import('./after.tsx')).After)

const newCard = { w: 280, h: 180 }

/** The card that is edited. It ends with the card, and with the right to change the board. */
function useEditing(board: OpenBoard, canEdit: boolean) {
  const [editing, edit] = useState<string | null>(null)
  const cards = useStore(board.cards)
  const isOver = editing !== null && (!canEdit || !cards.some(({ id }) => id === editing))
  useEffect(() => {
    if (isOver) edit(null)
  }, [isOver])
  return [isOver ? null : editing, edit] as const
}

/** What stays the same for all boards. */
const fixed: ReactFlowProps<BoardNode> = {
  nodeTypes: { card: CardNode, box: GroupNode },
  'aria-label': 'The board',
  ariaLabelConfig: {
    'node.a11yDescription.default':
      'Press Enter to select the card, and Enter again to edit it. Arrow keys move it, Delete removes it. A question mark shows all keys.',
    'controls.ariaLabel': 'Zoom',
  },
  ...{ nodesConnectable: false, elevateNodesOnSelect: false, zoomOnDoubleClick: false, panOnScroll: true },
  ...{ minZoom: zooms.min, maxZoom: zooms.max, deleteKeyCode: null },
  colorMode: 'system',
  // xyflow is under the MIT licence, which lets its mark be hidden. `licenses.md` of the built app has the licence.
  proOptions: { hideAttribution: true },
}

interface CanvasProps {
  board: OpenBoard
  canEdit: boolean
  /** The account whose view this window follows. */
  following: string | null
  follow(who: string | null): void
  goal: Goal
  intake: Intake
  showHistory: ((cardId: string) => void) | null
}

/** The first view depends on the room that there is, so that is measured first. */
export function Canvas(props: CanvasProps): ReactNode {
  const [first, setFirst] = useState<(Viewport & Size) | null>(null)
  const { board } = props
  const measure = useCallback(
    (area: HTMLDivElement | null) => {
      if (!area) return
      const size = { width: area.clientWidth, height: area.clientHeight }
      setFirst({ ...firstView(board, size), ...size })
    },
    [board],
  )
  return (
    <div className="canvas" ref={measure}>
      {first && (
        <ReactFlowProvider>
          <Flow {...props} first={first} />
        </ReactFlowProvider>
      )}
    </div>
  )
}

function Flow({
  board,
  canEdit,
  goal,
  intake,
  showHistory,
  first,
  ...following
}: CanvasProps & { first: Viewport & Size }): ReactNode {
  const [editing, edit] = useEditing(board, canEdit)
  const shown = useRef<BoardNode[]>([])
  const changes = useChanges(board, shown)
  const nodes = useNodes(board, changes, useRegion(first))
  shown.current = nodes
  const isFar = useIsFar()
  const { select, preview, showLayout, selected } = changes
  const canMove = canEdit && !changes.hasLayout
  const surface = useMemo(
    () => ({ board, canEdit, canMove, editing, isFar, edit, select, preview, showLayout, showHistory }),
    [board, canEdit, canMove, editing, isFar, select, preview, showLayout, showHistory],
  )
  const addCard = useAddCard(surface)
  const fit = useFit(board)
  const addFiles = useAddFiles(intake)
  const showCards = useCallback(
    (ids: readonly string[]) => {
      const box = boundsOf(ids.flatMap((id) => board.cards.find(id) ?? []).map((card) => boxOf(card, card)))
      if (box) fit(box)
    },
    [board, fit],
  )
  return (
    <Shared surface={surface}>
      <ReactFlow
        {...fixed}
        {...useHandlers(surface, selected, addCard)}
        nodes={nodes}
        defaultViewport={first}
        onNodesChange={changes.onNodesChange}
        className={canEdit ? 'board' : 'board read-only'}
        nodesDraggable={canMove}
        // So that the keys of the canvas work after a click beside all cards.
        tabIndex={-1}
      >
        <Background gap={24} />
        <Toolbar {...{ board, canEdit, addCard, addFiles }} />
        <Later>{useIsDrawn() && <After {...{ goal, intake, fit }} show={showCards} />}</Later>
        <Later>
          <Soon>
            <Tools {...following} {...{ selected, addCard, fit }} />
          </Soon>
        </Later>
      </ReactFlow>
    </Shared>
  )
}

/** What cards read from around them. */
const Shared = ({ surface, children }: { surface: Surface; children: ReactNode }): ReactNode => (
  <SurfaceContext value={surface}>
    <ScaleContext value={useScale()}>{children}</ScaleContext>
  </SurfaceContext>
)

function useAddFiles({ take }: Intake): (files: File[]) => void {
  const { screenToFlowPosition } = useReactFlow()
  const middle = useMiddle()
  return (files) => take({ files, folders: [], text: '' }, screenToFlowPosition(middle()))
}

/** Whether the first cards are on the screen: they are drawn within two frames. */
function useIsDrawn(): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    requestAnimationFrame(() => requestAnimationFrame(() => setDrawn(true)))
  }, [])
  return isDrawn
}

const laterMs = 1500
const interactions = ['pointermove', 'pointerdown', 'keydown', 'focusin'] as const

/** Shows its children a little after the board, or as soon as the person does something. */
function Soon({ children }: { children: ReactNode }): ReactNode {
  const [isTime, setTime] = useState(false)
  useEffect(() => {
    if (isTime) return
    const show = () => setTime(true)
    const timer = setTimeout(show, laterMs)
    for (const type of interactions) addEventListener(type, show)
    return () => {
      clearTimeout(timer)
      for (const type of interactions) removeEventListener(type, show)
    }
  }, [isTime])
  return isTime && children
}

function useNodes(board: OpenBoard, { own, selected }: Changes, region: Box): BoardNode[] {
  const [cards, groups, others] = [useStore(board.cards), useStore(board.groups), useStore(board.drags)]
  return useMemo(
    () => nodesOf({ cards, groups, own, others, selected, region }),
    [cards, groups, own, others, selected, region],
  )
}

/** @returns a function that adds a note at a place of the screen, and begins to edit it */
function useAddCard({ board, edit, select }: Surface): (at: Place) => void {
  const { screenToFlowPosition } = useReactFlow()
  return useCallback(
    (at) => {
      const { x, y } = screenToFlowPosition(at)
      board.newStep()
      const id = board.cards.add({ kind: 'note', x: x - newCard.w / 2, y: y - 24, ...newCard })
      select([id])
      edit(id)
    },
    [board, edit, select, screenToFlowPosition],
  )
}

const isPane = (target: EventTarget) => (target as Element).classList.contains('react-flow__pane')

function useHandlers(
  { board, canEdit, editing, edit }: Surface,
  selected: ReadonlySet<string>,
  addCard: (at: Place) => void,
): ReactFlowProps<BoardNode> {
  const { screenToFlowPosition } = useReactFlow()
  return useMemo(
    () => ({
      onPointerMove: ({ clientX: x, clientY: y }: PointerEvent) =>
        board.show({ cursor: screenToFlowPosition({ x, y }) }),
      onPointerLeave: () => board.show({ cursor: null }),
      onPointerDown({ target, currentTarget }: PointerEvent<HTMLDivElement>) {
        if (isPane(target)) currentTarget.focus({ preventScroll: true })
      },
      onKeyDown(event: KeyboardEvent) {
        const id = (event.target as HTMLElement).dataset['id']
        const isOnlyOne = id !== undefined && selected.size === 1 && selected.has(id)
        // With Ctrl, xyflow takes the card out of the selection.
        const isEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey
        if (!isEnter || !isOnlyOne || !canEdit || editing !== null) return
        event.preventDefault()
        edit(id)
      },
      onDoubleClick({ target, clientX: x, clientY: y }: MouseEvent) {
        if (canEdit && isPane(target)) addCard({ x, y })
      },
    }),
    [board, canEdit, editing, edit, selected, addCard, screenToFlowPosition],
  )
}
