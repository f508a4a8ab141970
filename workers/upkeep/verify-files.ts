/** Compares the rows of files, and of the history of boards, with the stored bytes. */
import { fileKeyOf } from '../../core/file.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import type { Database } from '../../sql/database.ts'

export interface FileDifference {
  key: string
  /** `missing`: a row without bytes. `extra`: bytes without a row. `size`: the number of bytes differs from the row. */
  fault: 'missing' | 'extra' | 'size'
  detail: string
}

const atOnce = 1000

export async function verifyFiles(
  database: Database,
  files: ObjectStore,
): Promise<{ count: number; differences: FileDifference[] }> {
  // An upload writes its row before its bytes, and removes its bytes before its row. So bytes that are listed here have
  // a row in what is read afterwards.
  const stored = new Map<string, number>()
  for await (const { key, bytes } of files.list()) stored.set(key, bytes)
  const known = new Set<string>()
  const differences: FileDifference[] = []
  let count = 0
  for (let after = ''; ;) {
    const rows = await database.asSystem(
      (tx) => tx<{ image_key: string; bytes: number | null; recorded: boolean }[]>`
        select f.image_key, max(f.bytes) as bytes, bool_or(f.recorded) as recorded
        from (
          select image_key, bytes, condemned_at is null as recorded from images where image_key > ${after}
          union all
          select image_key, bytes, false from uploads where image_key > ${after}
          union all
          select key, bytes, true from board_history where key > ${after}
          union all
          select base_key, base_bytes, true from board_history where base_key > ${after}
          union all
          select key, bytes, true from board_versions where key > ${after}
          union all
          select key, null, false from history_leftovers where key > ${after}
        ) f
        group by f.image_key
        order by f.image_key collate "C"
        limit ${atOnce}`,
      'background',
    )
    if (rows.length === 0) break
    for (const { image_key, bytes, recorded } of rows) {
      known.add(image_key)
      if (!recorded) continue
      count += 1
      // A file that was stored after the listing is looked up by itself.
      const found = stored.get(image_key) ?? (await files.head(image_key))?.bytes
      if (found === undefined)
        differences.push({
          key: image_key,
          fault: 'missing',
          detail: `the ${bytes} bytes of this file are missing`,
        })
      else if (bytes !== null && found !== bytes)
        differences.push({
          key: image_key,
          fault: 'size',
          detail: `${found} bytes are stored, the row says ${bytes}`,
        })
    }
    after = rows.at(-1)!.image_key
  }
  for (const [key, bytes] of stored)
    if (!known.has(fileKeyOf(key)))
      differences.push({ key, fault: 'extra', detail: `${bytes} bytes are stored, but no file has them` })
  return { count, differences }
}

/** Removes bytes without a row. Missing bytes can't be restored. @returns the differences that remain */
export async function repairFiles(
  files: ObjectStore,
  differences: FileDifference[],
): Promise<FileDifference[]> {
  await files.remove(differences.filter(({ fault }) => fault === 'extra').map(({ key }) => key))
  return differences.filter(({ fault }) => fault !== 'extra')
}
