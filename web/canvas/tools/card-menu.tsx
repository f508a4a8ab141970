/** The menu of a card: by a right click, or by Shift+F10 on the card in focus. It is about all selected cards. */
import { useEffect, useState, type ReactNode } from 'react'
import { useStoreApi } from '@xyflow/react'
import { ActionMenu, placeFor, type Action, type At } from '../../controls/menu.tsx'
import { useSurface, type Surface } from '../surface.ts'
import { boardIdOf, removeAll, toBack, toFront } from './actions.ts'
import { duplicate } from './copies.ts'

/** What the browser has a menu of its own for. */
const ownMenu = 'a[href], input, textarea, select, audio, video'

export function CardMenu({ selected }: { selected: ReadonlySet<string> }): ReactNode {
  const surface = useSurface()
  const store = useStoreApi()
  const [shown, show] = useState<{ id: string; at: At } | null>(null)
  useEffect(() => {
    const canvas = store.getState().domNode
    const onContextMenu = (event: MouseEvent) => {
      const target = event.target as Element
      const card = target.closest<HTMLElement>('.react-flow__node-card')
      const id = card?.dataset['id']
      if (id === undefined || event.defaultPrevented || target.closest(ownMenu)) return
      event.preventDefault()
      show({ id, at: placeFor(event, card!) })
    }
    canvas?.addEventListener('contextmenu', onContextMenu)
    return () => canvas?.removeEventListener('contextmenu', onContextMenu)
  }, [store])
  if (!shown) return null
  const { id, at } = shown
  const actions = actionsFor(surface, id, selected.has(id) ? selected : new Set([id]))
  if (actions.length === 0) return null
  return <ActionMenu key={id} label="Actions for the card" {...{ actions, at }} close={() => show(null)} />
}

function actionsFor(surface: Surface, id: string, ids: ReadonlySet<string>): Action[] {
  const { board, canEdit, edit, select, showHistory } = surface
  const history: Action[] = showHistory ? [{ label: 'History', does: () => showHistory(id) }] : []
  if (!canEdit) return history
  return [
    {
      label: 'Edit',
      key: 'Enter',
      does() {
        select([id])
        edit(id)
      },
    },
    { label: 'Duplicate', key: 'Control+D', does: () => select(duplicate(board, boardIdOf(board), ids)) },
    { label: 'To the front', key: ']', does: () => toFront(board, ids) },
    { label: 'To the back', key: '[', does: () => toBack(board, ids) },
    ...history,
    {
      label: 'Remove',
      key: 'Delete',
      does() {
        removeAll(board, ids)
        select([])
      },
    },
  ]
}
