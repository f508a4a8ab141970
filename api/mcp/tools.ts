/** The list of tools, in the order of `tools/list`. Each tool needs the scope of its operation. */
import type { Tool } from './tool.ts'
import { arrangeCards } from './tools/arrange.ts'
import { boardHistory } from './tools/history.ts'
import { createGroup, listGroups, ungroup, updateGroup } from './tools/groups.ts'
import { importUrls } from './tools/import.ts'
import { listBoards, readBoard, readBoardTree } from './tools/read-boards.ts'
import { readCard, readCards } from './tools/read-cards.ts'
import { deleteCards, restoreCards } from './tools/remove-cards.ts'
import { resolve, search } from './tools/search.ts'
import { deleteBoard, restoreBoard } from './tools/trash.ts'
import { undoMyChanges } from './tools/undo.ts'
import { uploadFromUrl } from './tools/upload.ts'
import { listWorkspaces } from './tools/workspaces.ts'
import { createBoard, moveBoards, updateBoard } from './tools/write-boards.ts'
import { createCards, moveCards, updateCards } from './tools/write-cards.ts'

export const tools: Tool[] = [
  listWorkspaces,
  search,
  resolve,
  listBoards,
  readBoard,
  readBoardTree,
  readCards,
  readCard,
  listGroups,
  boardHistory,

  createBoard,
  updateBoard,
  moveBoards,
  restoreBoard,
  createCards,
  updateCards,
  moveCards,
  arrangeCards,
  restoreCards,
  undoMyChanges,
  createGroup,
  updateGroup,
  ungroup,
  importUrls,
  uploadFromUrl,

  deleteBoard,
  deleteCards,
]

export const findTool = (name: unknown): Tool | undefined => tools.find((tool) => tool.name === name)
