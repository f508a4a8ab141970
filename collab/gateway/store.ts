/**
 * Hocuspocus' own seam for persistence: `fetch` reads the log, `store` writes the index rows of what changed. The
 * document itself needs no storing: it is its log.
 */
import { Database as DatabaseExtension } from '@hocuspocus/extension-database'
import type { onStoreDocumentPayload } from '@hocuspocus/server'
import type { CommitQueue } from '../commit/commit.ts'
import type { Documents } from '../documents/documents.ts'

export class DocumentStore extends DatabaseExtension {
  constructor(documents: Documents, queue: CommitQueue) {
    super({
      fetch: async ({ documentName, document }) => {
        await documents.load(documentName, document)
        return null // applied already, in one transaction; merging the updates first would take seven times as long
      },
      store: ({ documentName }) => queue.flush(documentName),
    })
  }

  /** The extension would encode the whole document at every store, for nobody. */
  override async onStoreDocument(data: onStoreDocumentPayload): Promise<void> {
    await this.configuration.store({ ...data, state: Buffer.alloc(0) })
  }
}
