/** Answers a client's question for the updates that it lacks (SyncStep1), when it joins and when it comes back. */
import type { Connection } from '@hocuspocus/server'
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import type { BoardDocument } from '../documents/document.ts'
import { closeConnection, type EditorContext } from './connection.ts'
import { questionFrame, syncHead, syncStep } from './protocol.ts'
import type { EditorSocket } from './socket.ts'

/** Clients in a state vector beyond those of the document. */
const maxOtherClients = 1000
const maxClientBytes = 16

/** Encoding this many bytes of a document costs as much as one more question, */
const encodedBytesPerQuestion = 64 * 1024
/** and so does sending this many bytes that are encoded already. */
const sentBytesPerQuestion = 1024 * 1024

/** The cost of answering a client that joins, in questions (rates.ts). */
export function costOfJoin({ shared, sizeBytes }: BoardDocument): number {
  return 1 + sizeBytes / (shared.isEncoded ? sentBytesPerQuestion : encodedBytesPerQuestion)
}

/**
 * Sends the service's own question, then what the client lacks. The provider takes SyncStep2 for the end of the sync, so
 * what precedes it is sent as an Update.
 *
 * @param vector the client's state vector, encoded
 */
export async function answerJoin(
  socket: EditorSocket,
  connection: Connection<EditorContext>,
  { shared }: BoardDocument,
  vector: Uint8Array,
): Promise<void> {
  const { document, messageAddress: address } = connection
  const known = readVector(vector, document.store.clients.size)
  if (!known) {
    closeConnection(connection, closeCodes.badFrame)
    return
  }
  const { base, tail } = await shared.missing(known)
  if (!document.hasConnection(connection)) return
  socket.send(questionFrame(address, shared.vector))
  const parts = tail ? [base, tail] : [base]
  for (const [at, part] of parts.entries()) {
    const step = at === parts.length - 1 ? syncStep.missing : syncStep.update
    socket.sendShared(syncHead(address, step, part.byteLength), part)
  }
}

function readVector(bytes: Uint8Array, clients: number): Map<number, number> | null {
  if (bytes.byteLength > (clients + maxOtherClients) * maxClientBytes) return null
  try {
    return Y.decodeStateVector(bytes)
  } catch {
    return null
  }
}
