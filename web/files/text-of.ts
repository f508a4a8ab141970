/** The text of a file. Files do not say their encoding. */

const marks: readonly [bytes: string, encoding: string][] = [
  ['255 254', 'utf-16le'],
  ['254 255', 'utf-16be'],
]

/** UTF-16 begins with a mark. What is no UTF-8 either is taken for the encoding of older Windows programs. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const start = bytes.slice(0, 2).join(' ')
  const encoding = marks.find(([mark]) => mark === start)?.[1]
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
