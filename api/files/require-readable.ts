/** A card must not name a file that its writer can't read. */
import { ServiceError } from '../../core/errors.ts'
import type { ApiContext } from '../route.ts'

const fields = ['image_key', 'file_key', 'poster_key'] as const
type NamesFiles = Partial<Record<(typeof fields)[number], string | null | undefined>>

/**
 * A key under which there is nothing is a dead reference, which is allowed: it was a file once.
 *
 * @throws ServiceError `not_found` that names the field
 */
export async function requireReadableFiles(
  { database }: ApiContext,
  account: string,
  cards: NamesFiles[],
  where: (at: number) => string,
): Promise<void> {
  const keys = new Set(cards.flatMap((card) => fields.flatMap((field) => card[field] ?? [])))
  if (keys.size === 0) return
  const rows = await database.asUser(
    account,
    (tx) => tx<{ key: string }[]>`select foreign_files(${[...keys]}::text[]) as key`,
  )
  const foreign = new Set(rows.map(({ key }) => key))
  for (const [at, card] of cards.entries())
    for (const field of fields)
      if (foreign.has(card[field] ?? ''))
        throw new ServiceError('not_found', `${where(at)}${field}: no such file.`)
}
