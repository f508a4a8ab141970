/** Bytes that are kept. A part of what was read, however small, would keep all of it in memory, so it is copied. */
export const ownBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength < bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes
