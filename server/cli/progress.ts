/**
 * Shows progress in one line on standard error. Shows nothing when standard error is not a terminal.
 *
 * @param total null when it is unknown
 */
export function showProgress(
  unit: string,
  total: number | null = null,
  terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Progress {
  if (!terminal.isTTY) return { step: () => undefined, end: () => undefined }
  let done = 0
  let shownAt = 0
  return {
    step(count = 1) {
      done += count
      if (Date.now() - shownAt < 100 && done !== total) return
      shownAt = Date.now()
      const of = total === null ? '' : ` of ${Math.floor(total)}`
      terminal.write(`\r${total === null ? '' : bar(done / total)}${Math.floor(done)}${of} ${unit}`)
    },
    end: () => void terminal.write('\r\u001B[K'),
  }
}

export interface Progress {
  /** Adds to what is done. It need not be a whole number. */
  step(count?: number): void
  /** Clears the line. */
  end(): void
}

const barWidth = 20

function bar(part: number): string {
  const full = Math.min(barWidth, Math.floor(part * barWidth))
  return `[${'#'.repeat(full)}${' '.repeat(barWidth - full)}] `
}
