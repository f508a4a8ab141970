import { randomInt } from 'node:crypto'
import net from 'node:net'

/**
 * Below the ranges that systems take outgoing ports from (Linux 32768 up, macOS 49152 up). In such a range a
 * client that dials a server which is down can be given the very port it dials: it then talks to itself, and
 * holds the port that the server needs to come back.
 */
const ports = { from: 16384, below: 32768 }

/** The wanted port of 127.0.0.1 if it is free, else a random free one. */
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
