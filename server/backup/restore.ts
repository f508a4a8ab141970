import { readArchive } from '../../platform/archive/read-archive.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { loadDatabase, type LoadOptions, type TableWriter } from '../../sql/archive/load.ts'
import type { LiveAccess } from '../../sql/archive/live-access.ts'
import type { CheckedArchive } from './check-archive.ts'
import type { Stages } from './format.ts'
import { FileWriter } from './write-files.ts'

export interface RestoreOptions extends LoadOptions {
  path: string
  archive: CheckedArchive
  url: string
  store: ObjectStore
  stages: Stages
}

/**
 * Loads the database, in one transaction that ends after the last file is stored. So an interrupted restore leaves the
 * database empty. Files that it has stored by then do no harm: the next one stores them again.
 *
 * @throws Error with one line for the operator
 */
export async function restore({
  path,
  archive,
  url,
  store,
  stages,
  ...options
}: RestoreOptions): Promise<LiveAccess> {
  stages.begin('MB restored', archive.fileBytes / 1e6)
  const reclaimed = archive.files?.reclaimed ?? []
  return loadDatabase(url, archive.header, async (target) => {
    const files = new FileWriter(store)
    let table = null as (TableWriter & { name: string }) | null
    let access = null as LiveAccess | null
    // Before the files, which may take hours: a fault of the database shows at once.
    const settle = async () => {
      await table?.end()
      table = null
      return (access ??= await target.settle({ ...options, reclaimed }))
    }
    for await (const { name, bytes, body } of readArchive(path, (read) => stages.step(read / 1e6))) {
      const [room, key = ''] = name.split('/')
      if (room === 'tables') {
        if (table?.name !== key) {
          await table?.end()
          table = { name: key, ...(await target.open(key)) }
        }
        for await (const rows of body) await table.write(rows)
      } else if (room === 'files') {
        await settle()
        await files.write(name.slice('files/'.length), bytes, body)
      }
    }
    await files.end()
    return settle()
  })
}
