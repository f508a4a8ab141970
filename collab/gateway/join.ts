/** Answers a client's question for the updates that it lacks (SyncStep1), when it joins and when it comes back. */
import type { Connection } from '@hocuspocus/server'
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import type { BoardDocument } from '../documents/document.ts'
import { closeConnection, type EditorContext } from './connection.ts'
import { questionFrame, syncHead, syncStep } from './protocol.ts'
import type { SocketState } from './open-sockets.ts'

/** Clients in a state vector beyond those of the document. */
const maxOtherClients = 1000
const maxClientBytes = 16

/** Encoding this many bytes of a document costs as much as one more question, */
const encodedBytesPerQuestion = 64 * 1024
/** and so does sending this many bytes that are encoded already, */
const sentBytesPerQuestion = 1024 * 1024
/** and comparing the state vectors of this many clients. */
const clientsPerQuestion = 4096

/** A client that lacks more of a document than this share gets all of it: those bytes are encoded once for all. */
const maxOwnShare = 1 / 2
/** What is encoded for one client may be larger than the estimate by this factor and these bytes. */
const [estimateFactor, spareBytes] = [2, 64 * 1024]

/**
 * Sends the service's own question, then what the client lacks. The provider takes SyncStep2 for the end of the sync, so
 * what precedes it is sent as an Update.
 *
 * The answer is charged by an estimate before it is encoded, and what it cost beyond that afterwards.
 *
 * @param vector the client's state vector, encoded
 */
export async function answerJoin(
  { socket, rates: { queries } }: Pick<SocketState, 'socket' | 'rates'>,
  connection: Connection<EditorContext>,
  { shared, sizeBytes }: BoardDocument,
  vector: Uint8Array,
): Promise<void> {
  const { document, messageAddress: address } = connection
  const known = readVector(vector, document.store.clients.size)
  if (!known) {
    closeConnection(connection, closeCodes.badFrame)
    return
  }
  const share = shared.shareLacking(known)
  const isOwn = share <= maxOwnShare
  const estimate = isOwn
    ? (share * sizeBytes) / encodedBytesPerQuestion
    : sizeBytes / (shared.isEncoded ? sentBytesPerQuestion : encodedBytesPerQuestion)
  const clients = Math.max(known.size, document.store.clients.size)
  queries.spend(1 + clients / clientsPerQuestion + estimate)
  const { base, tail, encodedBytes } = await shared.missing(
    isOwn ? known : new Map(),
    estimateFactor * share * sizeBytes + spareBytes,
  )
  const cost = encodedBytes / encodedBytesPerQuestion + base.byteLength / sentBytesPerQuestion
  queries.spend(Math.max(0, cost - estimate))
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
