/** The process of the second tenant. */
import { Prober, type Samples } from './probe.ts'
import type { Accounts } from './scene.ts'
import { serveCommands } from './child.ts'

export type ProberCommands = {
  /** Opens the tenant's board and runs a first round to warm up the code. */
  open: { takes: Accounts; gives: null }
  start: { takes: null; gives: null }
  stop: { takes: null; gives: Samples }
  close: { takes: null; gives: null }
}

const warmUpMs = 1000
let prober: Prober

serveCommands<ProberCommands>({
  async open(scene) {
    prober = new Prober(scene)
    await prober.open()
    prober.start()
    await new Promise((resolve) => setTimeout(resolve, warmUpMs))
    await prober.stop()
    return null
  },
  async start() {
    prober.start()
    return null
  },
  stop: () => prober.stop(),
  async close() {
    await prober.close()
    return null
  },
})
