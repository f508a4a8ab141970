/** Looks up the files whose keys the cards of a request name. */
import type { NamedFiles } from '../../collab/boards/named-files.ts'
import { fileFields, type CardChange } from '../../core/card.ts'
import type { ApiContext } from '../http/route.ts'

/** Refuses no key: whether a card may name a key depends on the card. See `requireAlive`. */
export async function nameFiles(
  { database }: ApiContext,
  { account, boardId }: { account: string; boardId: string },
  changes: CardChange[],
  where: (at: number) => string,
): Promise<NamedFiles> {
  const keys = new Set(changes.flatMap((change) => fileFields.flatMap((field) => change[field] ?? [])))
  if (keys.size === 0) return { away: keys, dead: keys, where }
  const rows = await database.asUser(
    account,
    (tx) => tx<{ key: string; standing: 'dead' | 'away' }[]>`
      select key, standing from named_files(${[...keys]}::text[], ${boardId})`,
  )
  const keysThatAre = (standing: string) =>
    new Set(rows.flatMap((row) => (row.standing === standing ? row.key : [])))
  return { away: keysThatAre('away'), dead: keysThatAre('dead'), where }
}
