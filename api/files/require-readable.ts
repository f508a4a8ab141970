/** A card must not name a file that its writer can't read. */
import { fileFields } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ApiContext } from '../route.ts'

type NamesFiles = Partial<Record<(typeof fileFields)[number], string | null | undefined>>

/**
 * A key under which there is nothing is a dead reference, which is allowed: it was a file once.
 *
 * @returns those that the workspace of the board does not have: the write has to bring them there
 * @throws ServiceError `not_found` that names the field
 */
export async function requireReadableFiles(
  { database }: ApiContext,
  { account, boardId }: { account: string; boardId: string },
  cards: NamesFiles[],
  where: (at: number) => string,
): Promise<ReadonlySet<string>> {
  const keys = new Set(cards.flatMap((card) => fileFields.flatMap((field) => card[field] ?? [])))
  if (keys.size === 0) return keys
  const rows = await database.asUser(
    account,
    (tx) => tx<{ key: string; standing: 'foreign' | 'away' }[]>`
      select key, standing from named_files(${[...keys]}::text[], ${boardId})`,
  )
  const keysThatAre = (standing: string) =>
    new Set(rows.flatMap((row) => (row.standing === standing ? row.key : [])))
  const foreign = keysThatAre('foreign')
  for (const [at, card] of cards.entries())
    for (const field of fileFields)
      if (foreign.has(card[field] ?? ''))
        throw new ServiceError('not_found', `${where(at)}${field}: no such file.`)
  return keysThatAre('away')
}
