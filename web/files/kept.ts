/**
 * Uploads that are not done yet, with their files, kept on this device. When the page is opened again they go on where
 * they were. The sign-out clears them, as all that the app keeps.
 */
import * as idb from 'lib0/indexeddb'
import type { UploadState } from '../../client/index.ts'
import type { Frame } from './side-by-side.ts'
import type { FileKind } from './shape.ts'

export interface KeptUpload {
  /** Also that of the card that comes of it. */
  id: string
  /** The account that began it. Nobody else may go on with it. */
  account: string
  board: string
  file: File
  kind: FileKind
  frame: Frame
  /** How far an upload in parts has come. */
  state: UploadState | null
}

const database = 'corkboard uploads'
/** A state changes with each part. Its file is large, and does not change. */
const stores = ['files', 'states']
/** Tells, without opening the database, that it has something. */
const flag = 'corkboard: uploads'

export class KeptUploads {
  readonly #account: Promise<string>
  readonly #opened: Promise<IDBDatabase>

  constructor(account: Promise<string>) {
    this.#account = account
    // Without it nothing is kept, and nothing goes on.
    account.catch(() => undefined)
    this.#opened = idb.openDB(database, (db) =>
      idb.createStores(
        db,
        stores.map((name) => [name]),
      ),
    )
    // A browser can forbid it, as in a private window. Then uploads work, and end with the page.
    this.#opened.catch(() => undefined)
  }

  /** Those of a board. What another account has left on this device is removed. */
  async read(board: string): Promise<KeptUpload[]> {
    const uploads = (await this.#in(readAll)) ?? []
    const account = await this.#account.catch(() => null)
    if (account === null) return []
    for (const upload of uploads) if (upload.account !== account) await this.remove(upload.id)
    return uploads.filter((upload) => upload.account === account && upload.board === board)
  }

  async add(upload: Omit<KeptUpload, 'account'>): Promise<void> {
    const { state: _state, ...rest } = upload
    await this.#in((files, _states, account) => idb.put(files, { ...rest, account } as never, upload.id))
    // Afterwards: the removal of another one may have found nothing left meanwhile.
    localStorage.setItem(flag, 'yes')
  }

  async putState(id: string, state: UploadState): Promise<void> {
    await this.#in((_files, states) => idb.put(states, state as never, id))
  }

  async remove(id: string): Promise<void> {
    const left = await this.#in(async (files, states) => {
      await idb.del(files, id)
      await idb.del(states, id)
      return idb.count(files)
    })
    if (!left) localStorage.removeItem(flag)
  }

  /** One after the other, in the order of the calls. @returns null when nothing can be kept here */
  async #in<T>(
    work: (files: IDBObjectStore, states: IDBObjectStore, account: string) => Promise<T>,
  ): Promise<T | null> {
    try {
      const account = await this.#account
      const [files, states] = idb.transact(await this.#opened, stores)
      return await work(files!, states!, account)
    } catch {
      return null
    }
  }
}

async function readAll(files: IDBObjectStore, states: IDBObjectStore): Promise<KeptUpload[]> {
  const all = (await idb.getAll(files)) as Omit<KeptUpload, 'state'>[]
  const read = async (id: string) => ((await idb.get(states, id)) ?? null) as unknown as UploadState | null
  return Promise.all(all.map(async (upload) => ({ ...upload, state: await read(upload.id) })))
}
