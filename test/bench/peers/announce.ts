import type { AddressInfo, Server } from 'node:net'

/** Limits that are the same for every peer, so that all make the same checks. */
export const maxPayloadBytes = 16 * 1024 * 1024

/** Prints the port for the bench, in one line of JSON. */
export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ port })}\n`)
}
