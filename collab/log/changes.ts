/** Tells which cards and groups each change of a document added, removed or changed. */
import * as Y from 'yjs'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'

export interface Changes {
  added: string[]
  removed: string[]
  /** By card: the names of the changed fields. `*` when the whole card was replaced. */
  changed: Record<string, string[]>
  /** Ids of groups that were added, removed or changed. */
  groups: string[]
}

type Type = Y.AbstractType<unknown>

/**
 * Records the changes of a document. It reads what each transaction touched: Yjs' deep observers would compute the path
 * of each event, which takes quadratic time in rich text.
 */
export class ChangeRecorder {
  readonly #cards: Type
  readonly #groups: Type
  readonly #known: Set<string>
  #added = new Set<string>()
  #removed = new Set<string>()
  #changed = new Map<string, Set<string>>()
  #changedGroups = new Set<string>()

  constructor(document: Y.Doc) {
    const cards = cardsOf(document)
    this.#cards = cards as unknown as Type
    this.#groups = groupsOf(document) as unknown as Type
    this.#known = new Set(cards.keys())
    document.on('afterTransaction', ({ changed }: Y.Transaction) => {
      const touched = changed as unknown as Map<Type, Set<string | null>>
      for (const id of touched.get(this.#cards) ?? []) if (id !== null) this.#setCard(id, cards.has(id))
      for (const [type, keys] of touched) this.#touch(type, keys)
    })
  }

  #setCard(id: string, isThere: boolean): void {
    const wasThere = this.#known.has(id)
    if (isThere && wasThere) this.#change(id, '*')
    else if (isThere) {
      this.#known.add(id)
      if (this.#removed.delete(id)) this.#change(id, '*')
      else this.#added.add(id)
    } else if (wasThere) {
      this.#known.delete(id)
      this.#changed.delete(id)
      if (!this.#added.delete(id)) this.#removed.add(id)
    }
  }

  #touch(type: Type, keys: Set<string | null>): void {
    if (type === this.#groups) for (const id of keys) this.#changedGroups.add(id ?? '')
    let field: string | null = null
    for (let item = type._item; item?.parent instanceof Y.AbstractType; item = item.parent._item) {
      const { parent, parentSub } = item
      if (parent === this.#groups && parentSub !== null) this.#changedGroups.add(parentSub)
      if (parent === this.#cards && parentSub !== null) {
        const fields = type === cardType(item) ? keys : [field]
        for (const name of fields) if (name !== null) this.#change(parentSub, name)
      }
      field = parentSub
    }
  }

  #change(card: string, field: string): void {
    if (this.#added.has(card) || !this.#known.has(card)) return
    this.#changed.getOrInsertComputed(card, () => new Set()).add(field)
  }

  /** Returns the changes since the last call. */
  take(): Changes {
    const changes = {
      added: [...this.#added],
      removed: [...this.#removed],
      changed: Object.fromEntries([...this.#changed].map(([id, fields]) => [id, [...fields]])),
      groups: [...this.#changedGroups],
    }
    this.#added = new Set()
    this.#removed = new Set()
    this.#changed = new Map()
    this.#changedGroups = new Set()
    return changes
  }
}

/** The type that a card's item holds. */
const cardType = ({ content }: Y.Item): unknown => (content instanceof Y.ContentType ? content.type : null)
