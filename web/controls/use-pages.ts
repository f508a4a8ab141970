/** A list that is loaded page by page, as far as somebody wants to see it. */
import { useRef, useState } from 'react'
import { faultOf } from '../service/request.ts'
import { useLoaded } from './use-loaded.ts'

export interface Page<T> {
  rows: T[]
  /** Null after the last page. */
  next: string | null
}

export interface Pages<T> {
  rows: T[] | null
  fault: string | null
  hasMore: boolean
  more(): Promise<void>
  reload(): Promise<void>
}

/** @param key as for `useLoaded`. @param read reads the page at a cursor, or the first one */
export function usePages<T>(key: string, read: (cursor: string | undefined) => Promise<Page<T>>): Pages<T> {
  const first = useLoaded(key, () => read(undefined))
  const [later, setLater] = useState<{ of: Page<T> | null; rows: T[]; next: string | null }>(none)
  const [fault, setFault] = useState<string | null>(null)
  const isBusy = useRef(false)
  // Later pages belong to the first page that they were read after.
  const { rows, next } = later.of === first.value ? later : { rows: [], next: first.value?.next ?? null }
  const more = async () => {
    if (next === null || isBusy.current) return
    isBusy.current = true
    try {
      const page = await read(next)
      setLater({ of: first.value, rows: [...rows, ...page.rows], next: page.next })
      setFault(null)
    } catch (error) {
      setFault(faultOf(error))
    } finally {
      isBusy.current = false
    }
  }
  return {
    rows: first.value && [...first.value.rows, ...rows],
    fault: first.fault ?? fault,
    hasMore: next !== null,
    more,
    reload: first.reload,
  }
}

const none = { of: null, rows: [], next: null }
