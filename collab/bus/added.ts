/**
 * Messages carry what small commits added to the log of a board, so that other nodes need not read it there. It is
 * signed: whoever can send messages, but has no key of the service, can't write into documents.
 */
import type { Signing } from '../../platform/secrets/signatures.ts'
import { bytesOf, frame, isFramed, unframe, type Added } from '../log/log.ts'
import type { SentAdded, Signed } from './messages.ts'

/** What a newer commit added, behind what earlier ones did. Null when another commit lies between them. */
export function joined(earlier: Added, newer: Added): Added | null {
  if (newer.after !== earlier.head.seq) return null
  return { after: earlier.after, head: newer.head, updates: [...earlier.updates, ...newer.updates] }
}

/**
 * Encodes what fits into a message of this node.
 *
 * @param mostBytes bytes of updates; what has more is left out
 */
export function signed(
  signing: Signing,
  node: string,
  boards: [boardId: string, added: Added][],
  mostBytes: number,
): Signed | undefined {
  let leftBytes = mostBytes
  const added: SentAdded[] = []
  for (const [board, { after, head, updates }] of boards) {
    const bytes = bytesOf(updates)
    if (bytes > leftBytes) continue
    leftBytes -= bytes
    added.push({ board, after, head, updates: Buffer.concat(frame(updates)).toString('base64') })
  }
  return added.length > 0 ? { added, signature: signing.sign(signedText(node, added)) } : undefined
}

/** Reads it again, by board. Nothing when node `from` did not sign it. */
export function readSigned(signing: Signing, from: string, { added, signature }: Signed): Map<string, Added> {
  const boards = new Map<string, Added>()
  if (!signing.isSigned(signedText(from, added), signature)) return boards
  for (const { board, after, head, updates } of added) {
    const framed = Buffer.from(updates, 'base64')
    if (isFramed(framed)) boards.set(board, { after, head, updates: unframe(framed) })
  }
  return boards
}

const signedText = (node: string, added: SentAdded[]): string => `${node} ${JSON.stringify(added)}`
