/** The kinds of cards that the app knows, and their names for people. */
import type { EditorCard as Card } from '../../client/editor/index.ts'

const kindNames: Record<string, string> = {
  ...{ note: 'Note', image: 'Picture', link: 'Link', doc: 'Document' },
  ...{ video: 'Video', audio: 'Audio', pdf: 'PDF', file: 'File' },
}

export const isKnownKind = (kind: string): boolean => Object.hasOwn(kindNames, kind)
export const kindName = (kind: string): string => kindNames[kind] ?? kind

export function labelOf({ kind, title, body, section_header: isSection }: Card): string {
  const name = isSection === true ? 'Section' : kindName(kind)
  const text = title ?? body.slice(0, 80)
  return text === '' ? name : `${name}: ${text}`
}
