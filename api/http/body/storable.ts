/** Finds text that PostgreSQL can't store: U+0000 and lone surrogates. */

export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

const backslash = 0x5c
const [letterU, letterC, letterD, letterF, digit8] = [0x75, 0x63, 0x64, 0x66, 0x38]

/**
 * Whether PostgreSQL can store all strings of a JSON text. The text came as UTF-8, which cannot contain a lone
 * surrogate, and JSON does not allow U+0000 as it is. So both can only be written as escapes (`\u0000`, `\ud800`), and
 * this looks at the escapes alone. A regular expression takes ten times as long when a text consists of escapes.
 */
export function isStorableJson(json: string): boolean {
  if (!json.includes('\\u')) return true
  for (let at = json.indexOf('\\'); at < json.length; at++) {
    if (json.charCodeAt(at) !== backslash) continue
    if (json.charCodeAt(at + 1) !== letterU) {
      at += 1 // skips the escaped character, which may be a backslash
      continue
    }
    if (json.startsWith('0000', at + 2)) return false
    if (isSurrogate(json, at)) {
      const isPair = !isLow(json, at) && json.startsWith('\\u', at + 6) && isLow(json, at + 6)
      if (!isPair) return false
      at += 6
    }
    at += 5
  }
  return true
}

/** Whether the escape at `at` is a surrogate: D800 to DFFF. */
function isSurrogate(json: string, at: number): boolean {
  return (json.charCodeAt(at + 2) | 0x20) === letterD && json.charCodeAt(at + 3) >= digit8
}

/** Whether the escape at `at` is a low surrogate: DC00 to DFFF. */
function isLow(json: string, at: number): boolean {
  const third = json.charCodeAt(at + 3) | 0x20
  return isSurrogate(json, at) && third >= letterC && third <= letterF
}

interface Step {
  key: string
  parent: Step | null
  value: unknown
}

/**
 * Finds a field whose name or text can't be stored. Not recursive, because bodies can be deep.
 *
 * @returns the path of that field, such as `cards[1].title`; null when the whole body can be stored
 */
export function findUnstorable(body: unknown): string | null {
  const open: Step[] = [{ key: '', parent: null, value: body }]
  for (let step = open.pop(); step; step = open.pop()) {
    const { value } = step
    if (typeof value === 'string' && !isStorable(value)) return pathOf(step)
    if (typeof value !== 'object' || value === null) continue
    for (const key of Object.keys(value)) {
      if (!isStorable(key)) return pathOf(step)
      if (key === 'raw' && isWhole(step)) continue
      open.push({ key, parent: step, value: (value as Record<string, unknown>)[key] })
    }
  }
  return null
}

/**
 * Whether this is the body, or an entry of a list of it, or of a body that is a list. There `raw` is what a card as it
 * was read carries. It is ignored, and editors can write anything into it.
 */
function isWhole({ parent, value }: Step): boolean {
  if (Array.isArray(value)) return false
  return parent === null || (Array.isArray(parent.value) && (parent.parent?.parent ?? null) === null)
}

/** The path of a step. A long path is cut. */
function pathOf(step: Step): string {
  const steps: Step[] = []
  for (let one: Step = step; one.parent; one = one.parent) steps.push(one)
  let path = ''
  for (const { key, parent } of steps.toReversed()) {
    if (path.length >= 200) break
    path += Array.isArray(parent!.value) ? `[${key}]` : path ? `.${key}` : key
  }
  return path
}
