/**
 * Writes rich text as markup. The result is the same as that of Yjs's `toString`, but the writing stops when the markup
 * gets too long.
 */
import * as Y from 'yjs'

/** The markup is longer than allowed, or has more nodes than can be visited in a short step. */
export class TooLong extends Error {}

/** Each node, attribute and format costs at least as much as this many characters, because it takes time when empty. */
const nodeCost = 24

export class Markup {
  readonly #maxCost: number
  #text = ''
  #nodes = 0

  /** @param maxCost in characters */
  constructor(maxCost: number) {
    this.#maxCost = maxCost
  }

  get text(): string {
    return this.#text
  }

  get cost(): number {
    return Math.max(this.#text.length, this.#nodes * nodeCost)
  }

  /** @throws {TooLong} @throws TypeError for a value that can't be expressed in markup */
  add(type: Y.Text | Y.XmlFragment): void {
    this.#count(1)
    if (type instanceof Y.XmlText) this.#addFormatted(type)
    else if (type instanceof Y.Text) this.#write(type.toString())
    else if (type instanceof Y.XmlElement) this.#addElement(type)
    else this.#addChildren(type)
  }

  #addElement(element: Y.XmlElement): void {
    this.#count(element._map.size)
    const attributes = element.getAttributes() as Record<string, unknown>
    const name = element.nodeName.toLocaleLowerCase()
    this.#write(`<${name}`)
    for (const key of Object.keys(attributes).sort()) this.#write(` ${key}="${String(attributes[key])}"`)
    this.#write('>')
    this.#addChildren(element)
    this.#write(`</${name}>`)
  }

  #addChildren(type: Y.XmlFragment): void {
    for (let item = type._start; item !== null; item = item.right) {
      const { content } = item
      if (item.deleted || !item.countable) continue
      if (content instanceof Y.ContentString) this.#write(content.str)
      else for (const child of content.getContent() as object[]) this.#addChild(child)
    }
  }

  #addChild(child: object): void {
    if (child instanceof Y.Text || child instanceof Y.XmlFragment) this.add(child)
    else {
      this.#count(1)
      this.#write(child.toString()) // throws for null, as Yjs does
    }
  }

  #addFormatted(text: Y.XmlText): void {
    const formats = new Map<string, unknown>()
    let run = ''
    const endRun = () => {
      if (run) this.#addRun(formats, () => this.#write(run))
      run = ''
    }
    for (let item = text._start; item !== null; item = item.right) {
      const { content } = item
      if (item.deleted) continue
      if (content instanceof Y.ContentString) run += content.str
      else {
        endRun()
        this.#count(1)
        if (content instanceof Y.ContentFormat) setFormat(formats, content)
        else if (content instanceof Y.ContentType || content instanceof Y.ContentEmbed) {
          const [embedded] = content.getContent() as [unknown]
          this.#addRun(formats, () => this.#addEmbedded(embedded))
        }
      }
    }
    endRun()
  }

  #addEmbedded(value: unknown): void {
    if (value instanceof Y.Text || value instanceof Y.XmlFragment) this.add(value)
    else this.#write(String(value))
  }

  /** Writes something within the tags of its formats. */
  #addRun(formats: ReadonlyMap<string, unknown>, writeInner: () => void): void {
    this.#count(formats.size)
    const names = [...formats.keys()].sort()
    for (const name of names) {
      const value = formats.get(name) as Record<string, unknown>
      this.#write(`<${name}`)
      for (const key of this.#keysOf(value).sort()) this.#write(` ${key}="${String(value[key])}"`)
      this.#write('>')
    }
    writeInner()
    for (const name of names.toReversed()) this.#write(`</${name}>`)
  }

  /** The keys of a value of any type, such as a format's `true`. */
  #keysOf(value: unknown): string[] {
    if (typeof value === 'string') this.#count(value.length)
    const keys = typeof value === 'object' || typeof value === 'string' ? Object.keys(value ?? {}) : []
    this.#count(keys.length)
    return keys
  }

  #count(nodes: number): void {
    this.#nodes += nodes
    if (this.cost > this.#maxCost) throw new TooLong()
  }

  #write(text: string): void {
    this.#text += text
    if (this.#text.length > this.#maxCost) throw new TooLong()
  }
}

function setFormat(formats: Map<string, unknown>, { key, value }: Y.ContentFormat): void {
  if (value === null) formats.delete(key)
  else formats.set(key, value)
}
