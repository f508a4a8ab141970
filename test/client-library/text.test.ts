/** Texts that two people edit at once: as properties, with fields that behave as those of a browser. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { bindText } from '../../client/editor/bind-text.ts'
import { openCards } from '../../client/editor/canvas.ts'
import { editBetween, indexInField, indexInText } from '../../client/editor/text-edit.ts'
import { TypingField } from './typing-field.ts'

const applied = (text: string, { start, deleted, inserted }: NonNullable<ReturnType<typeof editBetween>>) =>
  text.slice(0, start) + inserted + text.slice(start + deleted)
const isWellFormed = (text: string) => text.isWellFormed()
/** Few different characters, so that the same ones stand beside each other. */
const repetitive = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '😀', '😁', '\n'), maxLength: 12 })

test('[LB20] an edit between two texts makes the second of the first, and parts no surrogate pair', () => {
  fc.assert(
    fc.property(repetitive, repetitive, fc.nat(24), (before, after, caret) => {
      const edit = editBetween(before, after, Math.min(caret, after.length))
      if (!edit) {
        expect(after).toBe(before)
        return
      }
      expect(applied(before, edit)).toBe(after)
      for (const part of [
        before.slice(0, edit.start),
        edit.inserted,
        before.slice(edit.start + edit.deleted),
      ])
        expect(isWellFormed(part)).toBe(true)
    }),
    { numRuns: 2000 },
  )
  expect(editBetween('aa', 'aaa', 1)).toEqual({ start: 0, deleted: 0, inserted: 'a' })
  expect(editBetween('aa', 'aaa', 2)).toEqual({ start: 1, deleted: 0, inserted: 'a' })
})

test('[LB20] without a caret the edit is the smallest one, so what others write beside it stays whole', () => {
  expect(editBetween('words', 'a words')).toEqual({ start: 0, deleted: 0, inserted: 'a ' })
  const [here, there] = [new Y.Doc(), new Y.Doc()]
  const sync = () => {
    Y.applyUpdate(there, Y.encodeStateAsUpdate(here))
    Y.applyUpdate(here, Y.encodeStateAsUpdate(there))
  }
  const [ours, theirs] = [openCards(here, {}), openCards(there, {})]
  const id = ours.add({ kind: 'note', body: 'words' })
  sync()
  ours.change(id, { body: 'a words' })
  theirs.change(id, { body: 'b words' })
  sync()
  expect(ours.find(id)!.body).toMatch(/^(a b|b a) words$/)
})

test('[LB20] a line end behind a lone `\\r` stays one of its own', () => {
  const text = new Y.Doc().getText()
  text.insert(0, 'ab\r')
  const field = new TypingField()
  const unbind = bindText(field, text, { origin: {} })
  field.click(field.value.length).type('\n')
  expect(field.value).toBe('ab\n\n')
  field.type('c')
  expect(field.value).toBe('ab\n\nc')
  unbind()
})

test('[LB20] positions in a field that shows line ends in another way are positions in the text', () => {
  const shownIn = {
    textarea: (text: string) => text.replaceAll(/\r\n?/g, '\n'),
    input: (text: string) => text.replaceAll(/[\r\n]/g, ''),
  }
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\r\n', '\n', '\r'), maxLength: 12 })
  fc.assert(
    fc.property(text, fc.nat(12), fc.constantFrom(shownIn.textarea, shownIn.input), (text, at, show) => {
      const shown = show(text)
      const index = Math.min(at, shown.length)
      const inText = indexInText(text, shown, index)
      expect(show(text.slice(0, inText))).toBe(shown.slice(0, index))
      expect(indexInField(text, shown, inText)).toBe(index)
    }),
    { numRuns: 2000 },
  )
})

/** Two documents whose updates arrive when the test says so. */
class Pair {
  readonly documents = [new Y.Doc(), new Y.Doc()] as const
  readonly fields = [new TypingField(), new TypingField()] as const
  readonly #waiting: [Uint8Array[], Uint8Array[]] = [[], []]

  constructor(content: string) {
    this.documents[0].getText('body').insert(0, content)
    Y.applyUpdate(this.documents[1], Y.encodeStateAsUpdate(this.documents[0]))
    for (const who of [0, 1] as const) {
      const document = this.documents[who]
      bindText(this.fields[who], document.getText('body'), { origin: 'typed' })
      document.on('update', (update: Uint8Array, origin: unknown) => {
        if (origin !== 'network') this.#waiting[1 - who]!.push(update)
      })
    }
  }

  deliver(to: 0 | 1, most = Infinity): void {
    for (const update of this.#waiting[to].splice(0, most))
      Y.applyUpdate(this.documents[to], update, 'network')
  }

  get texts(): string[] {
    return [
      ...this.documents.map((document) => document.getText('body').toString()),
      ...this.fields.map(({ value }) => value),
    ]
  }
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('letter' as const),
      who: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('network' as const),
      who: fc.constantFrom(0 as const, 1 as const),
      most: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      who: fc.constantFrom(0 as const, 1 as const),
      at: fc.nat(20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('paste' as const),
      who: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('compose' as const),
      who: fc.constantFrom(0 as const, 1 as const),
    }),
  },
)

/** Positions at which a word begins, as the person sees them. */
const wordStarts = (text: string) => [0, ...[...text.matchAll(/ /g)].map(({ index }) => index + 1)]

test('[LB21] two people who type in one text converge, and no word is garbled, however slow the network is', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 20, maxLength: 120 }),
      fc.infiniteStream(fc.nat(1000)),
      (steps, chances) => {
        const chance = (below: number) => chances.next().value! % below
        const pair = new Pair('The quick brown fox jumps over the lazy dog ')
        const typed: string[] = []
        const left = ['', '']
        const removed = new Set<string>()
        const clickBeforeAWord = (who: 0 | 1) => {
          const field = pair.fields[who]
          const next = (start: number) => field.value.slice(start).split(' ')[0]!
          const starts = wordStarts(field.value).filter((start) => !removed.has(next(start)))
          field.click(starts[chance(starts.length)]!)
        }
        const newWord = (who: 0 | 1) => {
          const word = `${String(typed.length).padStart(3, '0')}x${'ab'[who]}y`
          typed.push(word)
          return `${word} `
        }
        for (const { who, ...step } of steps) {
          const field = pair.fields[who]
          if (step.kind === 'network') pair.deliver(who, step.most)
          else if (step.kind === 'letter' || left[who] !== '') {
            if (left[who] === '') {
              clickBeforeAWord(who)
              left[who] = newWord(who)
            }
            field.type(left[who]![0]!)
            left[who] = left[who]!.slice(1)
          } else if (step.kind === 'remove') {
            // A word that was there from the beginning. But Yjs puts what is inserted behind what was deleted there: two
            // who type in the place of one deleted word may mix. So nobody types right before a word that is removed.
            const words = [...field.value.matchAll(/\b[a-zA-Z]{3,} /g)]
            const word = words[step.at % Math.max(1, words.length)]
            const other = pair.fields[who === 0 ? 1 : 0]
            const isNext = other.value.slice(other.selectionStart).startsWith(word?.[0] ?? '')
            if (!word || (left[1 - who] !== '' && isNext)) continue
            removed.add(word[0].trim())
            field.select(word.index, word.index + word[0].length).type('')
          } else if (step.kind === 'paste') {
            clickBeforeAWord(who)
            field.type(newWord(who))
          } else {
            clickBeforeAWord(who)
            const word = newWord(who)
            field.compose(word, () => pair.deliver(who))
          }
        }
        for (const who of [0, 1] as const)
          for (const letter of left[who]!) {
            pair.deliver(who, 1)
            pair.fields[who].type(letter)
          }
        pair.deliver(0)
        pair.deliver(1)
        const [text] = pair.texts
        expect(new Set(pair.texts)).toEqual(new Set([text]))
        expect(typed.filter((word) => !text!.includes(word))).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
})

test('[LB21] a caret stays where it is in the text, and undo takes back what was typed here alone', () => {
  const pair = new Pair('one three')
  const [mine, theirs] = pair.fields
  mine.click(4)
  theirs.click(0).type('zero ')
  pair.deliver(0)
  expect([mine.value, mine.selectionStart]).toEqual(['zero one three', 9])
  mine.type('two ')
  pair.deliver(1)
  theirs.select(0, 9).type('')
  pair.deliver(0)
  expect([mine.value, mine.selectionStart]).toEqual(['two three', 4])

  const document = new Y.Doc()
  const text = document.getText('body')
  const undo = new Y.UndoManager(text, { trackedOrigins: new Set(['typed']) })
  const field = new TypingField()
  const unbind = bindText(field, text, { origin: 'typed', undo })
  field.type('mine')
  text.insert(0, 'theirs ')
  field.press({ key: 'z', ctrlKey: true })
  expect([text.toString(), field.value]).toEqual(['theirs ', 'theirs '])
  field.press({ key: 'Z', metaKey: true, shiftKey: true })
  expect(field.value).toBe('theirs mine')
  unbind()
  field.type('unheard')
  text.insert(0, 'not shown ')
  expect(text.toString()).toBe('not shown theirs mine')
  expect(field.value).not.toContain('not shown')
})
