/**
 * Shows progress in one line on standard error. Shows nothing when standard error is not a terminal.
 *
 * @param total null when it is unknown
 */
export function showProgress(
  unit: string,
  total: number | null = null,
  terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): { step(count?: number): void; end(): void } {
  if (!terminal.isTTY) return { step: () => undefined, end: () => undefined }
  let done = 0
  let shownAt = 0
  return {
    step(count = 1) {
      done += count
      if (Date.now() - shownAt < 100 && done !== total) return
      shownAt = Date.now()
      terminal.write(`\r${done}${total === null ? '' : ` of ${total}`} ${unit}`)
    },
    end: () => void terminal.write('\r\u001B[K'),
  }
}
