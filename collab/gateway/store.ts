/**
 * Hocuspocus' persistence hooks: `fetch` reads the log; `store` updates the index rows of changed cards. The document
 * needs no storing of its own, since the log is the document.
 */
import { Database as DatabaseExtension } from '@hocuspocus/extension-database'
import type { onStoreDocumentPayload } from '@hocuspocus/server'
import type { Documents } from '../documents/documents.ts'

export class DocumentStore extends DatabaseExtension {
  constructor(documents: Documents) {
    super({
      fetch: async ({ documentName, document }) => {
        await documents.load(documentName, document)
        return null // `load` has applied the updates; merging them first would take seven times as long
      },
      store: ({ documentName }) => documents.index(documentName),
    })
  }

  /** Skips the extension's encoding of the whole document, whose result nobody uses. */
  override async onStoreDocument(data: onStoreDocumentPayload): Promise<void> {
    await this.configuration.store({ ...data, state: Buffer.alloc(0) })
  }
}
