/** The attacker's process. It runs at the lowest priority, and prepares its inputs before it sends them. */
import { attacks } from './attacks.ts'
import { Attempt } from './attempt.ts'
import { serveCommands } from './child.ts'
import type { Scene } from './scene.ts'

export type AttackerCommands = {
  prepare: { takes: { name: string; scene: Scene; short: boolean }; gives: null }
  send: { takes: null; gives: null }
  /** Answers so far. */
  answers: { takes: null; gives: Record<string, number> }
}

let attempt: Attempt
let send: () => Promise<unknown>

serveCommands<AttackerCommands>({
  async prepare({ name, scene, short }) {
    const attack = attacks.find((one) => one.name === name)
    if (!attack) throw new Error(`there is no attack ${name}`)
    attempt = new Attempt(scene, { short })
    send = await attack.prepare(attempt)
    return null
  },
  async send() {
    attempt.measured()
    await send()
    return null
  },
  answers: async () => attempt.answers,
})
