/**
 * Tells which earlier processes of this machine have ended. Each process listens on a socket in a folder for as long as
 * it lives. The kernel closes it together with all other sockets of the process, however the process ends. So nobody can
 * connect to the mark of a process that has ended, and a paused process still counts as living.
 *
 * The name of a mark begins with the id of the kernel's boot. Marks of other machines that share the folder are ignored,
 * and those from before a restart of the machine.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'

export interface ProcessMark {
  /** The ids of earlier processes that have ended. */
  ended: string[]
  remove(): Promise<void>
}

/**
 * Leaves a mark for this process, and finds the processes that have ended.
 *
 * @param id a UUID
 * @returns null where that is not possible: on systems without `/proc`, with a folder that takes no sockets or whose
 * path is too long for one (about 50 characters)
 */
export async function leaveMark(folder: string, id: string): Promise<ProcessMark | null> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8)
    await mkdir(folder, { recursive: true })
    const ended: string[] = []
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      if (!name.startsWith(`${boot}-`) || !(await isRefused(path))) continue
      ended.push(name.slice(boot.length + 1))
      await rm(path, { force: true })
    }
    const server = createServer((socket) => socket.destroy()).listen(join(folder, `${boot}-${id}`))
    await once(server, 'listening')
    server.unref()
    return {
      ended,
      async remove() {
        server.close() // removes the file, too
        await once(server, 'close')
      },
    }
  } catch {
    return null
  }
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}
