export interface SharedBoard {
  boardId: string
  workspaceId: string
}
