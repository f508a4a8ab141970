/**
 * Keeps boards on this device, so that what is typed offline survives a reload and is sent later. Each account has stores of
 * its own: who signs in next does not see them. The sign-out clears them all, by `Clear-Site-Data`.
 */
import type { BoardOptions } from '../../client/editor/index.ts'

/**
 * @param readAccount tells whose boards these are. Until then nothing is kept
 * @param isGone whether the account can't come to see the board again
 */
export const keptFor =
  (
    readAccount: () => Promise<string>,
    isGone: (name: string) => Promise<boolean>,
  ): NonNullable<BoardOptions['store']> =>
  (name, document) => {
    let isWanted = true
    let isCleared = false
    let ended = () => {}
    const opening = (async () => {
      const account = await readAccount()
      const { IndexeddbPersistence, clearDocument, storeState } = await import('y-indexeddb')
      const own = `${name}:${account}`
      if (!isWanted) {
        if (isCleared) await clearDocument(own)
        throw new Error('The board was closed before its store was open.')
      }
      const kept = new IndexeddbPersistence(own, document)
      await kept.whenSynced
      // The browser ends the store when its data is cleared. Later changes would fail then.
      kept.db?.addEventListener('close', () => {
        void kept.destroy()
        ended()
      })
      // Each opening adds a whole copy of the document. This leaves one.
      await storeState(kept, true)
      return kept
    })()
    const end = async (how: 'destroy' | 'clearData') => {
      isWanted = false
      isCleared ||= how === 'clearData'
      const kept = await opening.catch(() => null)
      await kept?.[how]()
    }
    return {
      whenSynced: opening,
      onEnd: (listener) => (ended = listener),
      destroy: () => end('destroy'),
      // A board in the trash is refused, too. It can be restored, and then what was typed offline is sent.
      clearData: async () => end((await isGone(name)) ? 'clearData' : 'destroy'),
    }
  }
