/** Binds a text field to a `Y.Text`, so that several people can type in it at once. */
import type * as Y from 'yjs'

export type TextField = HTMLTextAreaElement | HTMLInputElement
type Delta = readonly { retain?: number; insert?: unknown; delete?: number }[]

export interface TextEdit {
  start: number
  removed: number
  inserted: string
}

/**
 * The one edit that makes `after` of `before`. It never cuts a character that takes two units of UTF-16.
 *
 * @param caret in `after`. Where several edits would do, it decides: what was typed ends there
 */
export function editBetween(before: string, after: string, caret = after.length): TextEdit {
  let end = Math.min(after.length - caret, before.length)
  if (!before.endsWith(after.slice(after.length - end))) end = sameEnd(before, after)
  const room = Math.min(before.length, after.length) - end
  let start = 0
  while (start < room && before[start] === after[start]) start += 1
  if (isLowHalf(before, start) || isLowHalf(after, start)) start -= 1
  if (isLowHalf(before, before.length - end) || isLowHalf(after, after.length - end)) end -= 1
  return { start, removed: before.length - end - start, inserted: after.slice(start, after.length - end) }
}

const isLowHalf = (text: string, at: number) => at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00

function sameEnd(before: string, after: string): number {
  const most = Math.min(before.length, after.length)
  let same = 0
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same += 1
  return same
}

/** Where a caret is after a change by somebody else. What is inserted exactly at the caret comes behind it. */
function moved(caret: number, delta: Delta): number {
  let at = 0
  let now = caret
  for (const { retain = 0, insert, delete: removed = 0 } of delta) {
    const inserted = typeof insert === 'string' ? insert.length : 0
    if (at < now) now += inserted - Math.min(removed, now - at)
    at += retain + inserted
  }
  return now
}

/**
 * What is typed goes into the text as the smallest edit; what others type goes into the field, and the caret stays where it
 * is in the text. While an input method composes a word, the changes of others wait.
 *
 * @returns a function that ends the binding
 */
export function bindText(field: TextField, text: Y.Text, origin: unknown): () => void {
  let shown = text.toString()
  let writing = false
  let composing = false
  /** Changes of others that the field does not show yet. */
  let waiting: Delta[] = []
  field.value = shown

  const show = () => {
    const [start, end] = [field.selectionStart ?? 0, field.selectionEnd ?? 0].map((caret) =>
      waiting.reduce(moved, caret),
    )
    waiting = []
    shown = text.toString()
    const { scrollTop } = field
    field.value = shown
    // Setting the selection of a field without the focus would move the focus in some browsers.
    if (field.ownerDocument.activeElement === field) field.setSelectionRange(start!, end!)
    field.scrollTop = scrollTop
  }
  const write = () => {
    const { start, removed, inserted } = editBetween(shown, field.value, field.selectionEnd ?? undefined)
    const from = waiting.reduce(moved, start)
    shown = field.value
    writing = true
    text.doc?.transact(() => {
      if (removed > 0) text.delete(from, Math.min(removed, text.length - from))
      if (inserted !== '') text.insert(from, inserted)
    }, origin)
    writing = false
    if (waiting.length > 0) show()
  }
  const onText = (event: Y.YTextEvent) => {
    if (writing) return
    waiting.push(event.delta as Delta)
    if (!composing) show()
  }
  const listeners: Record<string, () => void> = {
    input: () => {
      if (!composing) write()
    },
    compositionstart: () => {
      composing = true
    },
    compositionend: () => {
      composing = false
      write()
    },
  }
  for (const [type, listener] of Object.entries(listeners)) field.addEventListener(type, listener)
  text.observe(onText)
  return () => {
    for (const [type, listener] of Object.entries(listeners)) field.removeEventListener(type, listener)
    text.unobserve(onText)
  }
}
