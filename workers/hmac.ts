import { hash } from 'node:crypto'

/** HMAC with SHA-256 of a head and a body, in latin1 and in bytes, with one key. */
export type Hmac = (head: string, body: Uint8Array, encoding: 'hex' | 'base64') => string

const blockBytes = 64
const digestBytes = 32

/**
 * By RFC 2104 over the runtime's SHA-256. Its own HMAC makes a native object for each text, which the garbage collector
 * has to see off: two of them cost a delivery several times what the hashing does.
 */
export function hmacWith(key: Uint8Array): Hmac {
  const block = Buffer.alloc(blockBytes)
  block.set(key.length > blockBytes ? hash('sha256', key, 'buffer') : key)
  const inner = Buffer.from(block.map((byte) => byte ^ 0x36)).toString('latin1')
  const outer = Buffer.alloc(blockBytes + digestBytes)
  outer.set(block.map((byte) => byte ^ 0x5c))
  return (head, body, encoding) => {
    const start = blockBytes + head.length
    const text = scratch(start + body.length)
    text.write(inner + head, 'latin1')
    text.set(body, start)
    outer.write(hash('sha256', text, 'latin1'), blockBytes, 'latin1')
    return hash('sha256', outer, encoding)
  }
}

/** For one text at a time. */
let memory = Buffer.alloc(4096)

function scratch(bytes: number): Buffer {
  if (memory.length < bytes) memory = Buffer.alloc(2 * bytes)
  return memory.subarray(0, bytes)
}
