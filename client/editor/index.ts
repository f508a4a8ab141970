export { bindText, showText, type TextBinding, type TextField } from './bind-text.ts'
export { openBoard, type BoardOptions, type OfflineStore, type OpenBoard } from './board.ts'
export {
  newId,
  type CardFields,
  type Cards,
  type EditorCard,
  type EditorGroup,
  type Entries,
  type GroupFields,
} from './canvas.ts'
export type { BoardStatus, Message } from './connection.ts'
export { openLive, type LiveEvent, type LiveList, type LiveOptions } from './live.ts'
export type { Account, Drag, Person, Place } from './presence.ts'
export type { Reason } from './reasons.ts'
export type { Store } from './store.ts'
