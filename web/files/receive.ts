/** Listens for what is dropped and pasted on the page. */
import { useLayoutEffect, useRef, useState } from 'react'
import { readGift, type Gift } from './gift.ts'
import type { Place } from './side-by-side.ts'

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * @param isOn whether the board takes anything
 * @param take gets where on the screen something was dropped; null for a paste
 * @returns whether something is held over the page
 */
export function useReceive(isOn: boolean, take: (gift: Gift, at: Place | null) => void): boolean {
  const [isOver, setOver] = useState(false)
  const newest = useRef(take)
  newest.current = take
  // It listens as soon as the board can be seen.
  useLayoutEffect(() => {
    if (!isOn) return
    const ending = new AbortController()
    const { signal } = ending
    /** What is dragged from one place of the page to another is no gift. */
    let isOwn = false
    addEventListener('dragstart', () => (isOwn = true), { signal })
    addEventListener('dragend', () => (isOwn = false), { signal })
    addEventListener('paste', (event) => onPaste(event, newest.current), { signal })
    document.addEventListener('dragover', (event) => setOver(!isOwn && allow(event)), { signal })
    // It leaves the page when it goes to nothing.
    addEventListener('dragleave', (event) => event.relatedTarget === null && setOver(false), { signal })
    document.addEventListener(
      'drop',
      (event) => {
        setOver(false)
        if (isOwn || event.defaultPrevented || !event.dataTransfer || !allow(event)) return
        const gift = readGift(event.dataTransfer)
        newest.current(gift, { x: event.clientX, y: event.clientY })
      },
      { signal },
    )
    return () => ending.abort()
  }, [isOn])
  return isOver
}

/** Without it the browser would open the file in place of the board. */
function allow(event: DragEvent): boolean {
  const types = event.dataTransfer?.types ?? []
  const isWanted = ['Files', 'text/uri-list', 'text/plain'].some((type) => types.includes(type))
  const isHere = event.target instanceof Element && event.target.closest('.react-flow, .list') !== null
  if (!isWanted || !isHere || isField(event.target)) return false
  event.preventDefault()
  event.dataTransfer!.dropEffect = 'copy'
  return true
}

function onPaste(event: ClipboardEvent, take: (gift: Gift, at: null) => void): void {
  if (event.defaultPrevented || !event.clipboardData || isField(event.target)) return
  // Cards that were copied are pasted by the canvas.
  if (event.clipboardData.types.some((type) => type.startsWith('application/x-corkboard'))) return
  const gift = readGift(event.clipboardData)
  // A text processor gives a picture of the text, too.
  if (gift.text.trim() !== '' && event.clipboardData.types.includes('text/html')) gift.files = []
  if (gift.files.length === 0 && gift.text.trim() === '') return
  event.preventDefault()
  take(gift, null)
}
