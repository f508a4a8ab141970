/** Two tests under a bound of CPU time, of which the second has a turn that is too long. Run by `hostile.alone.test.ts`. */
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'vitest'
import { failOnLongTurn } from '../support/long-turn.ts'

failOnLongTurn(100)

test('short turns', async () => {
  for (let turn = 0; turn < 10; turn++) {
    work(20)
    await delay(1)
  }
})

test('a long turn', () => work(250))

function work(cpuMs: number): void {
  const start = process.threadCpuUsage()
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1000
  }
  while (usedMs() < cpuMs);
}
