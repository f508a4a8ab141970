import { randomInt } from 'node:crypto'
import net from 'node:net'

/**
 * Ports for the server, below the range of ephemeral ports (Linux from 32768, macOS from 49152). In that range a client
 * that connects to a stopped server can get the server's own port as its source port. The client then connects to
 * itself and occupies the port that the server needs for its restart.
 */
const ports = { from: 16384, below: 32768 }

/** Returns `wanted` if it is free on 127.0.0.1, otherwise a random free port. */
export async function choosePort(wanted: number | null): Promise<number> {
  let port = wanted ?? randomInt(ports.from, ports.below)
  while (!(await isFree(port))) port = randomInt(ports.from, ports.below)
  return port
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
