/** The account's notifications. New ones come over a socket (use-live.ts). */
import { useCallback, useEffect, useMemo, useState } from 'react'
import { markRead, newestCount, readNotifications, type Notification } from '../service/notifications.ts'

export interface Notifications {
  /** The newest first. Null until they are read. */
  list: Notification[] | null
  fault: string | null
  reload(): Promise<void>
  /** Adds one that the service has sent. */
  add(one: Notification): void
  /** Marks one as read, or all. */
  read(id: string | null): Promise<void>
}

export function useNotifications(): Notifications {
  const [list, setList] = useState<Notification[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const attempt = useCallback(async (work: () => Promise<void>) => {
    try {
      await work()
      setFault(null)
    } catch (error) {
      setFault((error as Error).message)
    }
  }, [])
  const reload = useCallback(() => attempt(async () => setList(await readNotifications())), [attempt])
  useEffect(() => void reload(), [reload])
  const add = useCallback(
    (one: Notification) => setList((all) => all && [one, ...all.filter(({ id }) => id !== one.id)]),
    [],
  )
  const read = useCallback(
    (id: string | null) =>
      attempt(async () => {
        const newest = list?.[0]
        if (!newest) return
        await markRead(id === null ? { before: newest.created_at } : { ids: [id] })
        await reload()
      }),
    [attempt, list, reload],
  )
  return useMemo(() => ({ list, fault, reload, add, read }), [list, fault, reload, add, read])
}

/** How many are unread, as the bell shows it. Empty: none. */
export function unreadCount(notifications: Notifications | null): string {
  const count = notifications?.list?.filter(({ read_at: at }) => at === null).length ?? 0
  if (count === 0) return ''
  return count >= newestCount ? `${newestCount - 1}+` : String(count)
}
