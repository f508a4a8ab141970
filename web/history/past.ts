/** Shows a past moment of a board: its document as it was, by a socket with `as_of`, read-only. */
import { useEffect, useRef, useState } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import type { Reason } from '../../client/editor/index.ts'

/** A slider passes many moments. One is opened when the slider has rested for so long. */
const restMs = 150

/**
 * @param openAt opens the board as it was
 * @param asOf the moment. Null: the present, where no board of the past is shown
 * @param show gets the board of the past as soon as it is here, and null for the present
 * @returns why the moment can't be shown
 */
export function usePast(
  openAt: (asOf: string) => OpenBoard,
  asOf: string | null,
  show: (past: OpenBoard | null) => void,
): string | null {
  const [fault, setFault] = useState<string | null>(null)
  /** What is shown. It stays until the next moment is here, so that the canvas is never empty. */
  const shown = useRef<OpenBoard | null>(null)
  useEffect(() => {
    const become = (past: OpenBoard | null) => {
      show(past)
      shown.current?.close()
      shown.current = past
    }
    setFault(null)
    if (asOf === null) return become(null)
    let opened: OpenBoard | undefined
    let isCurrent = true
    const open = async () => {
      opened = openAt(asOf)
      try {
        await opened.ready
        if (isCurrent) become(opened)
      } catch (error) {
        if (isCurrent) setFault(wordsFor((error as Error).cause as Reason))
      }
    }
    const timer = setTimeout(() => void open(), restMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
      if (opened !== shown.current) opened?.close()
    }
  }, [openAt, asOf, show])
  useEffect(
    () => () => {
      show(null)
      shown.current?.close()
      shown.current = null
    },
    [show],
  )
  return fault
}

const wordsFor = ({ name }: Reason): string =>
  name === 'no-such-moment'
    ? 'This moment is not kept any more. Choose a later one.'
    : 'This moment can not be shown now. Choose it again in a moment.'
