/** The canvas of an open board. */
import { useCallback, useMemo, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import { Background, Controls, MiniMap, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react'
import type { OpenBoard } from '../board/board.ts'
import { BoxNode, CardNode } from './card-node.tsx'
import { Cursors } from './cursors.tsx'
import { nodesOf, type BoardNode } from './nodes.ts'
import { SurfaceContext } from './surface.ts'
import { Toolbar } from './toolbar.tsx'
import { useChanges } from './use-changes.ts'
import { useStore } from './use-store.ts'

const nodeTypes = { card: CardNode, box: BoxNode }
const newCard = { w: 280, h: 180 }
/** The toolbar is at the bottom. */
const fit = { padding: { x: '32px', top: '32px', bottom: '88px' }, maxZoom: 1 } as const
const overview = { width: 150, height: 100 }
const labels = {
  'node.a11yDescription.default':
    'Press Enter to select the card, and Enter again to edit it. Arrow keys move it, Delete removes it.',
  'controls.ariaLabel': 'Zoom',
  'minimap.ariaLabel': 'Overview of the board',
}

export const Canvas = (shown: { board: OpenBoard; canEdit: boolean }): ReactNode => (
  <ReactFlowProvider>
    <Flow {...shown} />
  </ReactFlowProvider>
)

function Flow({ board, canEdit }: { board: OpenBoard; canEdit: boolean }): ReactNode {
  const [editing, edit] = useState<string | null>(null)
  const { own, selected, select, onNodesChange } = useChanges(board)
  const flow = useReactFlow<BoardNode>()
  const [cards, groups, others] = [useStore(board.cards), useStore(board.groups), useStore(board.drags)]
  const nodes = useMemo(
    () => nodesOf({ cards, groups, own, others, selected }),
    [cards, groups, own, others, selected],
  )
  const surface = useMemo(() => ({ board, canEdit, editing, edit }), [board, canEdit, editing])
  const addCard = useCallback(
    (at: { x: number; y: number }) => {
      const { x, y } = flow.screenToFlowPosition(at)
      const id = board.cards.add({ kind: 'note', x: x - newCard.w / 2, y: y - 24, ...newCard })
      select([id])
      edit(id)
    },
    [board, flow, select],
  )
  const onKeyDown = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).dataset['id']
    const isOnlyOne = id !== undefined && selected.size === 1 && selected.has(id)
    if (event.key !== 'Enter' || !isOnlyOne || !canEdit || editing !== null) return
    event.preventDefault()
    edit(id)
  }
  const onDoubleClick = (event: MouseEvent) => {
    if (canEdit && (event.target as Element).classList.contains('react-flow__pane'))
      addCard({ x: event.clientX, y: event.clientY })
  }
  return (
    <SurfaceContext value={surface}>
      <ReactFlow
        {...{ nodes, nodeTypes, onNodesChange, onKeyDown, onDoubleClick }}
        className={canEdit ? 'board' : 'board read-only'}
        aria-label="The board"
        ariaLabelConfig={labels}
        onDelete={({ nodes: gone }) =>
          board.transact(() => {
            for (const { id } of gone) board.cards.remove(id)
          })
        }
        onPointerMove={({ clientX: x, clientY: y }) => board.showCursor(flow.screenToFlowPosition({ x, y }))}
        onPointerLeave={() => board.showCursor(null)}
        nodesDraggable={canEdit}
        nodesConnectable={false}
        deleteKeyCode={canEdit ? deleteKeys : null}
        elevateNodesOnSelect={false}
        zoomOnDoubleClick={false}
        panOnScroll
        onlyRenderVisibleElements
        fitView
        fitViewOptions={fit}
        minZoom={0.05}
        maxZoom={2}
        colorMode="system"
        proOptions={attribution}
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

/** A group is a frame around its cards. */
const miniature = ({ type }: BoardNode) => (type === 'box' ? 'transparent' : 'var(--edge)')
const deleteKeys = ['Delete', 'Backspace']
/** xyflow is under the MIT licence, which lets its mark be hidden. `licenses.md` of the built app has the licence. */
const attribution = { hideAttribution: true }
