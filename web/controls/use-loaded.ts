/** What a panel has loaded, or why not. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { faultOf } from '../service/request.ts'
import { signIn, SignedOut } from '../service/token.ts'

export interface Loaded<T> {
  /** Null until it is loaded. */
  value: T | null
  fault: string | null
  reload(): Promise<void>
}

const nothing = { value: null, fault: null }

/** @param key what is loaded. When it changes, the other thing is loaded */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; fault: string | null }>(nothing)
  const newest = useRef(load)
  newest.current = load
  /** Answers of earlier turns come too late. */
  const turn = useRef(0)
  const reload = useCallback(async () => {
    const mine = (turn.current += 1)
    const isCurrent = () => mine === turn.current
    try {
      const value = await newest.current()
      if (isCurrent()) setState({ value, fault: null })
    } catch (error) {
      if (error instanceof SignedOut) signIn()
      else if (isCurrent()) setState(({ value }) => ({ value, fault: faultOf(error) }))
    }
  }, [])
  useEffect(() => {
    setState(nothing)
    void reload()
    return () => {
      turn.current += 1
    }
  }, [key, reload])
  return { ...state, reload }
}
