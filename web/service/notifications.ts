/** Requests about the account's notifications. */
import { read, write } from './api.ts'

export interface Notification {
  id: string
  type: string
  board_id: string | null
  data: Record<string, unknown>
  created_at: string
  read_at: string | null
}

/** How many are read at once. The count of the bell goes up to it. */
export const newestCount = 100

/** The newest notifications. */
export async function readNotifications(): Promise<Notification[]> {
  return (await read<{ notifications: Notification[] }>(`/notifications?limit=${newestCount}`)).notifications
}

/** Marks these as read, or all up to the time of the newest one that was shown. */
export const markRead = (which: { ids: string[] } | { before: string }): Promise<unknown> =>
  write('POST', '/notifications/read', which)
