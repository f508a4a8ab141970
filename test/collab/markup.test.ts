/** Rich text as markup: what the service writes is what Yjs writes. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { Markup, TooLong } from '../../collab/canvas/markup.ts'

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant({ a: 'b"', c: 1 }),
)
const formats = fc.dictionary(fc.constantFrom('b', 'a', 'i'), value, { maxKeys: 2 })
const place = fc.nat(20)
const change = fc.oneof(
  fc.record({ kind: fc.constant('element' as const), place, name: fc.constantFrom('P', 'div') }),
  fc.record({ kind: fc.constant('text' as const), place }),
  fc.record({ kind: fc.constant('hook' as const), place }),
  fc.record({ kind: fc.constant('attribute' as const), place, name: fc.constantFrom('x', 'Y', 'é'), value }),
  fc.record({ kind: fc.constant('words' as const), place, words: fc.string(), formats }),
  fc.record({ kind: fc.constant('format' as const), place, formats }),
  fc.record({ kind: fc.constant('embed' as const), place, formats }),
  fc.record({ kind: fc.constant('removal' as const), place }),
)
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

/** A rich text, made by changes at places that are counted over all its nodes. */
function richText(changes: Change[]): Y.XmlFragment {
  const root = new Y.Doc().getXmlFragment('text')
  const parents: Y.XmlFragment[] = [root]
  const texts: Y.XmlText[] = []
  for (const one of changes) {
    const parent = parents[one.place % parents.length]!
    const text = texts[one.place % texts.length]
    const at = one.place % (parent.length + 1)
    if (one.kind === 'element') {
      const element = new Y.XmlElement(one.name)
      parent.insert(at, [element])
      parents.push(element)
    } else if (one.kind === 'text') {
      const made = new Y.XmlText()
      parent.insert(at, [made])
      texts.push(made)
    } else if (one.kind === 'hook') parent.insert(at, [new Y.XmlHook('hook') as unknown as Y.XmlElement])
    else if (one.kind === 'attribute') {
      if (parent instanceof Y.XmlElement) parent.setAttribute(one.name, one.value as string)
    } else if (one.kind === 'removal') text?.delete(0, Math.min(1, text.length))
    else if (one.kind === 'words') text?.insert(one.place % (text.length + 1), one.words, one.formats)
    else if (one.kind === 'embed') text?.insertEmbed(one.place % (text.length + 1), { e: 1 }, one.formats)
    else text?.format(0, Math.min(text.length, one.place), one.formats)
  }
  return root
}

test('[WK33] rich text is written as Yjs writes it, and refused past its bound', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const text = richText(changes)
      const markup = new Markup(Infinity)
      markup.add(text)
      expect(markup.text).toBe(text.toJSON())
      new Markup(markup.cost).add(text)
      expect(() => new Markup(markup.cost - 1).add(text)).toThrow(TooLong)
    }),
    { numRuns: 1000 },
  )
})
