/** Copy, cut and paste of cards. What is no copy of cards is left to others. */
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useReactFlow, useStoreApi } from '@xyflow/react'
import { createCards } from '../../service/cards.ts'
import { useSurface } from '../surface.ts'
import { boardIdOf, removeAll } from './actions.ts'
import { addCopies, centred, clipboardType, copy, readCopies, textOfCopies, type Copied } from './copies.ts'
import { isForCanvas } from './use-keys.ts'

/** Cards that a click copies. `clipboardData` is there while the browser copies alone. */
export interface Clipboard {
  copy(): void
}

export function useClipboard(selected: ReadonlySet<string>, say: (notice: string) => void): Clipboard {
  const { board, canEdit, select } = useSurface()
  const placeToPaste = usePlaceToPaste()
  const paste = useCallback(
    async (copied: Copied) => {
      const { ids, forApi } = addCopies(board, boardIdOf(board), centred(copied, placeToPaste()))
      select(ids)
      if (forApi.length === 0) return
      try {
        select([...ids, ...(await createCards(boardIdOf(board), forApi))])
      } catch (error) {
        say(`${forApi.length} cards with files could not be pasted. ${(error as Error).message}`)
      }
    },
    [board, select, say, placeToPaste],
  )
  useEffect(() => {
    const take = (event: ClipboardEvent, isCut: boolean) => {
      if (selected.size === 0 || !event.clipboardData || !isForCanvas(event)) return
      // Somebody copies words.
      if (getSelection()?.isCollapsed === false) return
      const copied = copy(board, boardIdOf(board), selected)
      event.clipboardData.setData(clipboardType, JSON.stringify(copied))
      event.clipboardData.setData('text/plain', textOfCopies(copied))
      event.preventDefault()
      if (!isCut || !canEdit) return
      removeAll(board, selected)
      select([])
    }
    const listeners = {
      copy: (event: ClipboardEvent) => take(event, false),
      cut: (event: ClipboardEvent) => take(event, true),
      paste(event: ClipboardEvent) {
        const copied = readCopies(event.clipboardData?.getData(clipboardType) ?? '')
        if (!copied || !canEdit || !isForCanvas(event)) return
        event.preventDefault()
        // Cards also have a text and links. Nobody else takes them for something new.
        event.stopImmediatePropagation()
        void paste(copied)
      },
    }
    const types = ['copy', 'cut', 'paste'] as const
    for (const type of types) document.addEventListener(type, listeners[type], true)
    return () => {
      for (const type of types) document.removeEventListener(type, listeners[type], true)
    }
  }, [board, canEdit, select, selected, paste])
  return useMemo(() => ({ copy: () => void document.execCommand('copy') }), [])
}

/** @returns a function that tells where the pointer is on the board, or the middle of what is seen */
function usePlaceToPaste(): () => { x: number; y: number } {
  const { screenToFlowPosition } = useReactFlow()
  const store = useStoreApi()
  const pointer = useRef<{ x: number; y: number } | null>(null)
  useEffect(() => {
    const onMove = ({ target, clientX: x, clientY: y }: PointerEvent) => {
      pointer.current = (target as Element).closest('.react-flow') ? { x, y } : null
    }
    addEventListener('pointermove', onMove)
    return () => removeEventListener('pointermove', onMove)
  }, [])
  return useCallback(() => {
    const { left, top, width, height } = store.getState().domNode!.getBoundingClientRect()
    return screenToFlowPosition(pointer.current ?? { x: left + width / 2, y: top + height / 2 })
  }, [screenToFlowPosition, store])
}
