/**
 * Keeps boards on this device, so that what is typed offline survives a reload and is sent later. Each account has stores of
 * its own: who signs in next does not see them. The sign-out clears them all, by `Clear-Site-Data`.
 */
import type { BoardOptions } from '../../client/editor/index.ts'

/** @param readAccount tells whose boards these are. Until then nothing is kept */
export const keptFor =
  (readAccount: () => Promise<string>): NonNullable<BoardOptions['store']> =>
  (name, document) => {
    let isWanted = true
    const opening = (async () => {
      const account = await readAccount()
      const { IndexeddbPersistence, storeState } = await import('y-indexeddb')
      if (!isWanted) return null
      const kept = new IndexeddbPersistence(`${name}:${account}`, document)
      await kept.whenSynced
      // The browser ends the store when its data is cleared. Later changes would fail then.
      kept.db?.addEventListener('close', () => void kept.destroy())
      // Each opening adds a whole copy of the document. This leaves one.
      await storeState(kept, true)
      return kept
    })()
    const end = async (how: 'destroy' | 'clearData') => {
      isWanted = false
      const kept = await opening.catch(() => null)
      await kept?.[how]()
    }
    return { whenSynced: opening, destroy: () => end('destroy'), clearData: () => end('clearData') }
  }
