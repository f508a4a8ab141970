/** Binds a text field to a `Y.Text`, so that several people can type in it at once. */
import type * as Y from 'yjs'
import { editBetween, indexInField, indexInText, moveIndex, type Delta } from './text-edit.ts'

/** What is used of an `HTMLTextAreaElement` or `HTMLInputElement`. */
export interface TextField {
  value: string
  scrollTop: number
  readonly selectionStart: number | null
  readonly selectionEnd: number | null
  readonly selectionDirection: 'forward' | 'backward' | 'none' | null
  setSelectionRange(start: number, end: number, direction?: 'forward' | 'backward' | 'none'): void
  addEventListener(type: string, listener: (event: Event) => void): void
  removeEventListener(type: string, listener: (event: Event) => void): void
}

interface Keys {
  key?: string
  ctrlKey?: boolean
  metaKey?: boolean
  shiftKey?: boolean
}

export interface TextBinding {
  /** The origin of the transactions that write what was typed. */
  origin: unknown
  undo?: Pick<Y.UndoManager, 'undo' | 'redo'> | undefined
}

/**
 * What is typed into the field goes into the text, and what others type goes into the field. The caret stays where it is
 * in the text. While an input method composes a word, others' changes wait until it is done.
 *
 * Two people's words don't mix, with one exception: Yjs puts what is inserted behind what was deleted in that place. When
 * one person deletes the word behind another's caret and types there while the other goes on, letters may mix.
 *
 * @returns a function that ends the binding
 */
export function bindText(field: TextField, text: Y.Text, { origin, undo }: TextBinding): () => void {
  /** What the field shows, and what the text was when it was shown. */
  let shown = ''
  let content = ''
  let composing = false
  /** Changes by others that are not shown yet. */
  let waiting: Delta[] = []
  let writing = false

  const show = (start: number, end: number) => {
    const { scrollTop, selectionDirection } = field
    content = contentOf(text)
    waiting = []
    field.value = content
    shown = field.value
    field.setSelectionRange(
      indexInField(content, shown, start),
      indexInField(content, shown, end),
      selectionDirection ?? 'none',
    )
    field.scrollTop = scrollTop
  }
  const moved = (index: number) => waiting.reduce(moveIndex, index)
  const caret = (index: number | null) =>
    moved(indexInText(content, shown, Math.min(index ?? 0, shown.length)))

  const onText = (event: Y.YTextEvent) => {
    if (writing) return
    waiting.push(event.delta)
    if (!composing) show(caret(field.selectionStart), caret(field.selectionEnd))
  }
  const takeOver = () => {
    const { value } = field
    const edit = editBetween(shown, value, field.selectionEnd ?? undefined)
    const hasWaited = waiting.length > 0
    let end = 0
    if (edit) {
      const from = moved(indexInText(content, shown, edit.start))
      const to = moved(indexInText(content, shown, edit.start + edit.deleted))
      write(from, to - from, edit.inserted)
      end = from + edit.inserted.length
    } else end = caret(field.selectionEnd)
    if (hasWaited) return show(end, end)
    shown = value
    content = contentOf(text)
  }
  const write = (from: number, deleted: number, inserted: string) => {
    const change = () => {
      if (deleted > 0) text.delete(from, deleted)
      if (inserted !== '') text.insert(from, inserted)
    }
    writing = true
    try {
      text.doc?.transact(change, origin)
    } finally {
      writing = false
    }
  }

  const listeners: Record<string, (event: Event) => void> = {
    input: () => {
      if (!composing) takeOver()
    },
    compositionstart: () => {
      composing = true
    },
    compositionend: () => {
      composing = false
      takeOver()
    },
    // The browser's own undo knows nothing of what others have typed.
    beforeinput: (event) => {
      const { inputType } = event as Event & { inputType?: string }
      if (inputType !== 'historyUndo' && inputType !== 'historyRedo') return
      event.preventDefault()
      if (inputType === 'historyUndo') undo?.undo()
      else undo?.redo()
    },
    keydown: (event) => {
      const { key = '', ctrlKey, metaKey, shiftKey } = event as Event & Keys
      const letter = key.toLowerCase()
      if (!undo || !(ctrlKey || metaKey) || (letter !== 'z' && letter !== 'y')) return
      event.preventDefault()
      if (letter === 'z' && !shiftKey) undo.undo()
      else undo.redo()
    },
  }
  for (const [type, listener] of Object.entries(listeners)) field.addEventListener(type, listener)
  text.observe(onText)
  show(0, 0)
  return () => {
    for (const [type, listener] of Object.entries(listeners)) field.removeEventListener(type, listener)
    text.unobserve(onText)
  }
}

/** The characters of a text by their positions. An embedded object counts as one. */
export function contentOf(text: Y.Text): string {
  const characters = text.toString()
  if (characters.length === text.length) return characters
  const parts = text.toDelta() as { insert: unknown }[]
  return parts.map(({ insert }) => (typeof insert === 'string' ? insert : '\uFFFC')).join('')
}
