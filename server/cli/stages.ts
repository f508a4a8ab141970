import type { Stages } from '../backup/format.ts'
import { showProgress, type Progress } from './progress.ts'

/** Shows stages one after the other, each with a progress bar. `end` clears the last one. */
export function showStages(): Stages & { end(): void } {
  let shown: Progress | null = null
  const end = () => shown?.end()
  return {
    begin(unit, total) {
      end()
      shown = showProgress(unit, total)
    },
    step: (count) => shown?.step(count),
    end,
  }
}
