/** The file of a named version: a whole document. Runs in worker threads. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { fileKeysOfBoard } from '../boards/file-keys.ts'
import { documentOf } from '../log/log.ts'
import { compress } from '../log/segment.ts'

/** @returns the file, which is like that of a base; and JSON of the keys of files that the cards name */
export function makeVersionFile(updates: Uint8Array[]): Uint8Array[] {
  const log = { snapshot: null, updates }
  const file = compress(Y.encodeStateAsUpdateV2(documentOf(log)))
  return moved([file, Buffer.from(JSON.stringify(fileKeysOfBoard(log)))])
}
