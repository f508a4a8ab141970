/** A text field without a browser. It takes typing and shows line ends as a `<textarea>` does. */
import type { TextField } from '../../client/editor/bind-text.ts'

export class TypingField extends EventTarget implements TextField {
  scrollTop = 0
  selectionStart = 0
  selectionEnd = 0
  selectionDirection: 'forward' | 'backward' | 'none' = 'none'
  #value = ''

  get value(): string {
    return this.#value
  }

  /** A browser puts the caret at the end. */
  set value(text: string) {
    this.#value = text.replaceAll(/\r\n?/g, '\n')
    this.select(this.#value.length, this.#value.length)
  }

  setSelectionRange(start: number, end: number, direction: 'forward' | 'backward' | 'none' = 'none'): void {
    this.selectionStart = Math.min(start, this.#value.length)
    this.selectionEnd = Math.min(end, this.#value.length)
    this.selectionDirection = direction
  }

  click(at: number): this {
    return this.select(at, at)
  }

  select(start: number, end: number): this {
    this.setSelectionRange(start, end)
    return this
  }

  /** Puts a text in the place of the selection. */
  type(text: string): this {
    this.#replaceSelection(text)
    this.dispatchEvent(new Event('input'))
    return this
  }

  /** A word that is composed letter by letter, while `meanwhile` happens. */
  compose(word: string, meanwhile: () => void): void {
    this.dispatchEvent(new Event('compositionstart'))
    for (const letter of word) {
      this.#replaceSelection(letter)
      this.dispatchEvent(new Event('input'))
      meanwhile()
    }
    this.dispatchEvent(new Event('compositionend'))
  }

  press(key: { key: string; ctrlKey?: boolean; metaKey?: boolean; shiftKey?: boolean }): void {
    this.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), key))
  }

  #replaceSelection(text: string): void {
    const { selectionStart: start, selectionEnd: end } = this
    this.#value = this.#value.slice(0, start) + text + this.#value.slice(end)
    this.click(start + text.length)
  }
}
