/** A notification of an account: its row, and its form in the API and on sockets. */
export interface NotificationRow {
  id: string
  type: string
  workspace_id: string | null
  board_id: string | null
  data: unknown
  created_at: Date
  read_at: Date | null
}

export const presentNotification = (row: NotificationRow) => ({
  ...row,
  created_at: row.created_at.toISOString(),
  read_at: row.read_at?.toISOString() ?? null,
})
