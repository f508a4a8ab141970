import * as Y from 'yjs'

/** An encoded edit. `clockAfter` is its client's Yjs clock after the edit. */
export interface Edit {
  update: Uint8Array
  clockAfter: number
}

/**
 * The edits of one editor. The first edit makes a card, and every later one moves it. Edits are cached, so that every
 * server gets the same bytes, and so that making them (8 µs each, as much as sending) is not part of the measured time.
 */
export class EditStream {
  readonly clientId: number
  private readonly document = new Y.Doc()
  private readonly card = new Y.Map<unknown>()
  private bytes = new Uint8Array(1 << 16)
  private readonly ends: number[] = []
  private readonly clocks: number[] = []

  constructor(cardId: string) {
    this.clientId = this.document.clientID
    this.document.on('update', (update: Uint8Array) => this.keep(update))
    this.document.transact(() => {
      this.document.getMap('cards').set(cardId, this.card)
      for (const [field, value] of Object.entries(newCard)) this.card.set(field, value)
      this.card.set('body', new Y.Text('A card that is dragged about'))
    })
  }

  prepare(count: number): void {
    while (this.ends.length < count) this.move()
  }

  at(index: number): Edit {
    this.prepare(index + 1)
    const start = index === 0 ? 0 : this.ends[index - 1]
    return { update: this.bytes.subarray(start, this.ends[index]), clockAfter: this.clocks[index]! }
  }

  private move(): void {
    const step = this.ends.length
    this.document.transact(() => {
      this.card.set('x', (step * 37) % 5_000)
      this.card.set('y', (step * 91) % 4_000)
    })
  }

  private keep(update: Uint8Array): void {
    const start = this.ends.at(-1) ?? 0
    const end = start + update.length
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.bytes.length * 2))
      larger.set(this.bytes)
      this.bytes = larger
    }
    this.bytes.set(update, start)
    this.ends.push(end)
    this.clocks.push(Y.getState(this.document.store, this.clientId))
  }
}

const newCard = { kind: 'note', title: 'Dragged', x: 0, y: 0, w: 280, h: 180, z: 1, rotation: 0 }

const streams: EditStream[] = []

/** Returns the edits of the n-th editor. They are the same on every board and in every run. */
export function editStream(index: number): EditStream {
  return (streams[index] ??= new EditStream(`dragged-${index}`))
}
