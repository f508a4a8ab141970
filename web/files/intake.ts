/** Takes what a person brings onto a board. What uploads and imports is loaded when there is something to do. */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { whenOnline } from '../service/when-online.ts'
import { mayHaveUploads } from './any-kept.ts'
import type { Carrier } from './carrier.ts'
import type { Gift } from './gift.ts'
import { Jobs, newJobId } from './jobs.ts'
import type { Place } from './side-by-side.ts'

export interface Intake {
  jobs: Jobs
  /** @param at the middle of the first card */
  take(gift: Gift, at: Place): void
  /** Null until the first gift. */
  carrier: Carrier | null
}

/** @param boardId null while the board takes no changes */
export function useIntake(board: OpenBoard, boardId: string | null): Intake {
  const jobs = useMemo(() => new Jobs(), [])
  const [carrier, setCarrier] = useState<Carrier | null>(null)
  const opening = useRef<Promise<Carrier> | null>(null)
  const open = useMemo(() => () => (opening.current ??= load(board, boardId!, jobs)), [board, boardId, jobs])
  useEffect(() => {
    if (boardId === null) return
    const forget = () => (opening.current = null)
    // What can't go on now, as without the network, goes on when the board is opened the next time.
    if (mayHaveUploads()) open().then(setCarrier, forget)
    return () => {
      opening.current?.then((opened) => opened.close(), forget)
      opening.current = null
      setCarrier(null)
    }
  }, [boardId, open])
  return useMemo(() => {
    const take = (gift: Gift, at: Place) => {
      if (boardId === null) return
      open()
        .then((opened) => {
          setCarrier(opened)
          opened.carry(gift, at)
        })
        .catch(() => {
          opening.current = null
          const name = gift.files[0]?.name ?? 'What you pasted'
          jobs.add({ is: 'note', id: newJobId(), name, says: notLoaded, state: 'failed' })
        })
    }
    return { jobs, take, carrier }
  }, [boardId, carrier, jobs, open])
}

/** Loaded with the tools of the canvas, so that files can be added without the network. */
const loadCarrier = () => import('./carrier.ts')

async function load(board: OpenBoard, boardId: string, jobs: Jobs): Promise<Carrier> {
  const { openCarrier } = await whenOnline(loadCarrier)
  return openCarrier(board, boardId, jobs)
}

const notLoaded = 'A part of the app could not be loaded. Check the connection, and try again.'
