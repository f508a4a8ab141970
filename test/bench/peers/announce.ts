import type { AddressInfo, Server } from 'node:net'

/** Every peer serves JSON and frames of the same size, so that none is spared a check. */
export const maxPayloadBytes = 16 * 1024 * 1024

/** Tells the bench the port, in one line of JSON. */
export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ port })}\n`)
}
