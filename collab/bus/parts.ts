/**
 * Splits long texts for NOTIFY, and joins them again. A part begins with a line `part {id} {number} of {count}`. The
 * parts of a text are sent in one transaction, so they arrive together and in order. A text that lacks a part is lost.
 */
import { randomUUID } from 'node:crypto'
import { maxMessageBytes } from './messages.ts'

/** NOTIFY accepts less than 8,000 bytes. The first line of a part takes up to 60. */
const partLength = 7900
/** Base64 takes a third more bytes. */
const maxParts = Math.ceil((maxMessageBytes * 1.4) / partLength)
const firstLine = /^part ([0-9a-f-]{36}) (\d{1,4}) of (\d{1,4})\n/

/** @param text ASCII */
export function splitText(text: string): string[] {
  if (text.length <= partLength) return [text]
  const id = randomUUID()
  const count = Math.ceil(text.length / partLength)
  return Array.from({ length: count }, (_, at) => {
    const part = text.slice(at * partLength, (at + 1) * partLength)
    return `part ${id} ${at + 1} of ${count}\n${part}`
  })
}

export class Parts {
  #id = ''
  #texts: string[] = []

  /** Returns the text when it is whole; null while parts are missing. What is no part is returned as it is. */
  add(text: string): string | null {
    const [line, id = '', number, count] = firstLine.exec(text) ?? []
    if (line === undefined) return text
    if (Number(count) > maxParts) return text
    if (id !== this.#id || Number(number) !== this.#texts.length + 1) this.#texts = []
    this.#id = id
    if (Number(number) !== this.#texts.length + 1) return null
    this.#texts.push(text.slice(line.length))
    if (this.#texts.length < Number(count)) return null
    const whole = this.#texts.join('')
    this.#texts = []
    return whole
  }
}
