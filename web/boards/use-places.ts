/** The boards that the account sees. Events change the lists; what they don't tell is read again. */
import { useEffect, useMemo, useState } from 'react'
import { readPlaces, type Places } from '../service/boards.ts'
import { signIn, SignedOut } from '../service/token.ts'
import { applyEvent, type BoardEvent } from './apply-event.ts'

/** Events may cause so many readings at once, then one each 15 seconds: they take requests of the account's hour. */
const readings = { atOnce: 5, everyMs: 15_000, gatherMs: 200 }

export interface LivePlaces {
  places: Places | null
  fault: string | null
  reload(): Promise<void>
  told(event: BoardEvent): void
}

export function usePlaces(): LivePlaces {
  const [places, setPlaces] = useState<Places | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reader = useMemo(() => makeReader(setPlaces, setFault), [])
  const { reload } = reader
  useEffect(() => {
    const onShown = () => document.visibilityState === 'visible' && void reload()
    void reload()
    document.addEventListener('visibilitychange', onShown)
    return () => document.removeEventListener('visibilitychange', onShown)
  }, [reload])
  return { places, fault, ...reader }
}

function makeReader(show: (places: Places) => void, showFault: (fault: string | null) => void) {
  let newest: Places | null = null
  let turn = 0
  /** Events that came while the lists are read: the answer may be from before them. */
  let meanwhile: BoardEvent[] | null = null
  let paidUntil = 0
  let later: ReturnType<typeof setTimeout> | null = null

  async function reload(): Promise<void> {
    const own = (turn += 1)
    const events = (meanwhile = [] as BoardEvent[])
    try {
      const read = await readPlaces()
      if (own !== turn) return // a later reading has begun
      newest = events.reduce((lists, event) => applyEvent(lists, event) ?? lists, read)
      show(newest)
      showFault(null)
    } catch (error) {
      if (error instanceof SignedOut) signIn()
      else showFault((error as Error).message)
    } finally {
      if (own === turn) meanwhile = null
    }
  }

  function told(event: BoardEvent): void {
    meanwhile?.push(event)
    const after = newest && applyEvent(newest, event)
    if (after) show((newest = after))
    else later ??= setTimeout(readLater, pause())
  }

  function readLater(): void {
    later = null
    void reload()
  }

  /** How long the next reading waits. */
  function pause(): number {
    const { atOnce, everyMs, gatherMs } = readings
    const now = performance.now()
    paidUntil = Math.max(paidUntil, now) + everyMs
    return Math.max(gatherMs, paidUntil - now - atOnce * everyMs)
  }

  return { reload, told }
}
