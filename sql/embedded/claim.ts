import { unlinkSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Makes this process the only one that runs the server called `name`. The claim ends when the returned function is
 * called or the process ends. Waits up to `waitMs` for an earlier process that is shutting down.
 *
 * The claim is a listening socket, not a file with a process id. The kernel releases the socket even on `kill -9`. In a
 * container every start has the same process ids, so a stale file would look like a running process.
 */
export async function claim(name: string, waitMs: number): Promise<() => Promise<void>> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const server = await listen(socketPath(name))
    if (server) return () => new Promise((resolve) => server.close(() => resolve()))
    if (Date.now() > deadline)
      throw new Error('Another process uses this data folder (DATA_DIR). Stop that process first.')
    await sleep(50)
  }
}

/** On Linux the name is outside the file system and disappears with its process. */
function socketPath(name: string): string {
  return process.platform === 'linux' ? `\0${name}` : path.join(tmpdir(), `${name}.sock`)
}

async function listen(socket: string): Promise<net.Server | null> {
  const server = net.createServer((connection) => connection.destroy())
  server.unref()
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve)
    server.listen(socket, () => resolve(null))
  })
  if (!error) return server
  if (error.code !== 'EADDRINUSE') throw error
  if (!socket.startsWith('\0') && !(await answers(socket))) unlinkSync(socket)
  return null
}

/** Returns true when a process listens on the socket file, and false when the file is stale. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = net.connect(socket)
    connection.once('connect', () => resolve(true)).once('error', () => resolve(false))
    connection.once('connect', () => connection.destroy())
  })
}
