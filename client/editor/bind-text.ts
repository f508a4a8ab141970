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
export function bindText(field: TextField, text: Y.Text, binding: TextBinding): () => void {
  const bound = new BoundField(field, text, binding.origin)
  const onText = (event: Y.YTextEvent) => bound.takeIn(event.delta)
  const listeners = { ...bound.listeners, ...undoListeners(binding.undo) }
  for (const [type, listener] of Object.entries(listeners)) field.addEventListener(type, listener)
  text.observe(onText)
  return () => {
    for (const [type, listener] of Object.entries(listeners)) field.removeEventListener(type, listener)
    text.unobserve(onText)
  }
}

/**
 * Shows a text in a field in which somebody may be typing. The caret stays where it is in the text. This is for texts that
 * are values, such as titles: bind a field to a `Y.Text` with `bindText`.
 */
export function showText(field: TextField, text: string): void {
  const edit = editBetween(field.value, text)
  if (!edit) return
  const { selectionStart, selectionEnd, selectionDirection } = field
  const delta = [{ retain: edit.start }, { insert: edit.inserted }, { delete: edit.deleted }]
  const [start, end] = [selectionStart, selectionEnd].map((index) => moveIndex(index ?? 0, delta))
  field.value = text
  field.setSelectionRange(start!, end!, selectionDirection ?? 'none')
}

type Listeners = Record<string, (event: Event) => void>

class BoundField {
  readonly #field: TextField
  readonly #text: Y.Text
  readonly #origin: unknown
  /** What the field shows, and what the text was when it was shown. */
  #shown = ''
  #content = ''
  /** Changes by others that are not shown yet. */
  #waiting: Delta[] = []
  #isComposing = false
  #isWriting = false

  constructor(field: TextField, text: Y.Text, origin: unknown) {
    this.#field = field
    this.#text = text
    this.#origin = origin
    this.#show(0, 0)
  }

  readonly listeners: Listeners = {
    input: () => {
      if (!this.#isComposing) this.#takeOver()
    },
    compositionstart: () => {
      this.#isComposing = true
    },
    compositionend: () => {
      this.#isComposing = false
      this.#takeOver()
    },
  }

  /** Shows a change of the text. */
  takeIn(delta: Delta): void {
    if (this.#isWriting) return
    this.#waiting.push(delta)
    if (this.#isComposing) return
    const { selectionStart, selectionEnd } = this.#field
    this.#show(this.#caret(selectionStart), this.#caret(selectionEnd))
  }

  /** Writes what was typed since the text was shown. */
  #takeOver(): void {
    const { value, selectionEnd } = this.#field
    const edit = editBetween(this.#shown, value, selectionEnd ?? undefined)
    let end = 0
    if (edit) {
      const from = this.#moved(edit.start)
      this.#write(from, this.#moved(edit.start + edit.deleted) - from, edit.inserted)
      end = from + edit.inserted.length
    } else end = this.#caret(selectionEnd)
    if (this.#waiting.length > 0) return this.#show(end, end)
    this.#shown = value
    this.#content = contentOf(this.#text)
  }

  #write(from: number, deleted: number, text: string): void {
    const content = contentOf(this.#text)
    // A line end `\r` would become one with the `\n` that comes to stand behind it.
    const joins = content[from - 1] === '\r' && (text[0] ?? content[from + deleted]) === '\n'
    const inserted = joins ? `\r${text}` : text
    this.#isWriting = true
    try {
      this.#text.doc?.transact(() => {
        if (deleted > 0) this.#text.delete(from, deleted)
        if (inserted !== '') this.#text.insert(from, inserted)
      }, this.#origin)
    } finally {
      this.#isWriting = false
    }
  }

  /** @param start of the selection, as `end` in the text */
  #show(start: number, end: number): void {
    const field = this.#field
    const { scrollTop, selectionDirection } = field
    this.#content = contentOf(this.#text)
    this.#waiting = []
    field.value = this.#content
    this.#shown = field.value
    const [from, to] = [start, end].map((index) => indexInField(this.#content, this.#shown, index))
    field.setSelectionRange(from!, to!, selectionDirection ?? 'none')
    field.scrollTop = scrollTop
  }

  /** The position in the text, as it is now, of a position in what the field shows. */
  #moved(index: number): number {
    return this.#waiting.reduce(moveIndex, indexInText(this.#content, this.#shown, index))
  }

  #caret(index: number | null): number {
    return this.#moved(Math.min(index ?? 0, this.#shown.length))
  }
}

/** Undo by the editor. The browser's own knows nothing of what others have typed. */
function undoListeners(undo: TextBinding['undo']): Listeners {
  const act = (event: Event, isUndo: boolean) => {
    event.preventDefault()
    if (isUndo) undo?.undo()
    else undo?.redo()
  }
  return {
    beforeinput: (event) => {
      const { inputType } = event as Event & { inputType?: string }
      if (inputType === 'historyUndo' || inputType === 'historyRedo') act(event, inputType === 'historyUndo')
    },
    keydown: (event) => {
      const { key = '', ctrlKey, metaKey, shiftKey } = event as Event & Keys
      const letter = key.toLowerCase()
      if (undo && (ctrlKey || metaKey) && (letter === 'z' || letter === 'y'))
        act(event, letter === 'z' && !shiftKey)
    },
  }
}

/** The characters of a text by their positions. An embedded object counts as one. */
export function contentOf(text: Y.Text): string {
  const characters = text.toString()
  if (characters.length === text.length) return characters
  const parts = text.toDelta() as { insert: unknown }[]
  return parts.map(({ insert }) => (typeof insert === 'string' ? insert : '\uFFFC')).join('')
}
