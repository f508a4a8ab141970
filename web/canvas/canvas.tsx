/** The canvas of an open board. */
import {
  useCallback,
  useMemo,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
} from 'react'
import {
  Background,
  Controls,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type ReactFlowProps,
} from '@xyflow/react'
import type { OpenBoard } from '../board/board.ts'
import type { Place } from '../board/presence.ts'
import { BoxNode, CardNode } from './card-node.tsx'
import { Cursors } from './cursors.tsx'
import { nodesOf, type BoardNode } from './nodes.ts'
import { SurfaceContext, type Surface } from './surface.ts'
import { Toolbar } from './toolbar.tsx'
import { useChanges, type Changes } from './use-changes.ts'
import { useStore } from './use-store.ts'

const newCard = { w: 280, h: 180 }
/** The toolbar is at the bottom. */
const fit = { padding: { x: '32px', top: '32px', bottom: '88px' }, maxZoom: 1 } as const
const overview = { width: 150, height: 100 }
/** A group is a frame around its cards. */
const miniature = ({ type }: BoardNode) => (type === 'box' ? 'transparent' : 'var(--edge)')
const deleteKeys = ['Delete', 'Backspace']

/** What stays the same for all boards. */
const fixed: ReactFlowProps<BoardNode> = {
  nodeTypes: { card: CardNode, box: BoxNode },
  'aria-label': 'The board',
  ariaLabelConfig: {
    'node.a11yDescription.default':
      'Press Enter to select the card, and Enter again to edit it. Arrow keys move it, Delete removes it.',
    'controls.ariaLabel': 'Zoom',
    'minimap.ariaLabel': 'Overview of the board',
  },
  ...{ nodesConnectable: false, elevateNodesOnSelect: false, zoomOnDoubleClick: false, panOnScroll: true },
  ...{ onlyRenderVisibleElements: true, fitView: true, fitViewOptions: fit, minZoom: 0.05, maxZoom: 2 },
  colorMode: 'system',
  // xyflow is under the MIT licence, which lets its mark be hidden. `licenses.md` of the built app has the licence.
  proOptions: { hideAttribution: true },
}

export const Canvas = (shown: { board: OpenBoard; canEdit: boolean }): ReactNode => (
  <ReactFlowProvider>
    <Flow {...shown} />
  </ReactFlowProvider>
)

function Flow({ board, canEdit }: { board: OpenBoard; canEdit: boolean }): ReactNode {
  const [editing, edit] = useState<string | null>(null)
  const changes = useChanges(board)
  const nodes = useNodes(board, changes)
  const surface = useMemo(() => ({ board, canEdit, editing, edit }), [board, canEdit, editing])
  const addCard = useAddCard(surface, changes)
  return (
    <SurfaceContext value={surface}>
      <ReactFlow
        {...fixed}
        {...useHandlers(surface, changes, addCard)}
        nodes={nodes}
        onNodesChange={changes.onNodesChange}
        className={canEdit ? 'board' : 'board read-only'}
        nodesDraggable={canEdit}
        deleteKeyCode={canEdit ? deleteKeys : null}
      >
        <Background gap={24} />
        <Controls showInteractive={false} fitViewOptions={fit} />
        <MiniMap pannable zoomable style={overview} nodeColor={miniature} />
        <Cursors />
        <Toolbar {...{ board, canEdit, addCard }} />
      </ReactFlow>
    </SurfaceContext>
  )
}

function useNodes(board: OpenBoard, { own, selected }: Changes): BoardNode[] {
  const [cards, groups, others] = [useStore(board.cards), useStore(board.groups), useStore(board.drags)]
  return useMemo(
    () => nodesOf({ cards, groups, own, others, selected }),
    [cards, groups, own, others, selected],
  )
}

/** @returns a function that adds a note at a place of the screen, and begins to edit it */
function useAddCard({ board, edit }: Surface, { select }: Changes): (at: Place) => void {
  const { screenToFlowPosition } = useReactFlow()
  return useCallback(
    (at) => {
      const { x, y } = screenToFlowPosition(at)
      const id = board.cards.add({ kind: 'note', x: x - newCard.w / 2, y: y - 24, ...newCard })
      select([id])
      edit(id)
    },
    [board, edit, select, screenToFlowPosition],
  )
}

function useHandlers(
  { board, canEdit, editing, edit }: Surface,
  { selected }: Changes,
  addCard: (at: Place) => void,
): ReactFlowProps<BoardNode> {
  const { screenToFlowPosition } = useReactFlow()
  return {
    onDelete: ({ nodes }) =>
      board.transact(() => {
        for (const { id } of nodes) board.cards.remove(id)
      }),
    onPointerMove: ({ clientX: x, clientY: y }: PointerEvent) =>
      board.showCursor(screenToFlowPosition({ x, y })),
    onPointerLeave: () => board.showCursor(null),
    onKeyDown(event: KeyboardEvent) {
      const id = (event.target as HTMLElement).dataset['id']
      const isOnlyOne = id !== undefined && selected.size === 1 && selected.has(id)
      if (event.key !== 'Enter' || !isOnlyOne || !canEdit || editing !== null) return
      event.preventDefault()
      edit(id)
    },
    onDoubleClick({ target, clientX: x, clientY: y }: MouseEvent) {
      if (canEdit && (target as Element).classList.contains('react-flow__pane')) addCard({ x, y })
    },
  }
}
