/** Which boards of a tree are opened. The browser keeps it. */
import { useCallback, useMemo, useState } from 'react'

export interface Opened {
  ids: ReadonlySet<string>
  add(ids: readonly string[]): void
  toggle(id: string): void
}

export function useOpened(workspaceId: string): Opened {
  const key = `corkboard: opened in ${workspaceId}`
  const [ids, setIds] = useState<ReadonlySet<string>>(() => new Set(stored(key)))
  const change = useCallback(
    (changed: (ids: ReadonlySet<string>) => ReadonlySet<string>) =>
      setIds((before) => {
        const after = changed(before)
        if (after.size !== before.size) localStorage.setItem(key, JSON.stringify([...after]))
        return after.size === before.size ? before : after
      }),
    [key],
  )
  return useMemo(
    () => ({
      ids,
      add: (more) => change((before) => new Set([...before, ...more])),
      toggle: (id) =>
        change(
          (before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]),
        ),
    }),
    [ids, change],
  )
}

/** A list of ids that this browser has kept. */
export function stored(key: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : []
  } catch {
    return [] // kept by something else
  }
}
