import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from '../bench.ts'

const lookMs = 500
const quietShare = 0.03
const attempts = 120

/** Returns the CPU time in ms that a server used for `work`. */
export async function cpuOf(server: Server, work: () => Promise<unknown>): Promise<number> {
  const before = await server.cpuMs()
  await work()
  return (await server.cpuMs()) - before
}

/** Waits until a server has done what it does after an answer, such as indexing. */
export async function settled(server: Server): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++)
    if ((await cpuOf(server, () => delay(lookMs))) < lookMs * quietShare) return
  throw new Error(`${server.name} does not become quiet`)
}
