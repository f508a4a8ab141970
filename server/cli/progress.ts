/** Shows progress in one line on standard error. Shows nothing when standard error is not a terminal. */
export function showProgress(
  unit: string,
  total: number,
  terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): { step(): void; end(): void } {
  if (!terminal.isTTY) return { step: () => undefined, end: () => undefined }
  let done = 0
  let shownAt = 0
  return {
    step() {
      done += 1
      if (Date.now() - shownAt < 100 && done < total) return
      shownAt = Date.now()
      terminal.write(`\r${done} of ${total} ${unit}`)
    },
    end: () => void terminal.write('\r\u001B[K'),
  }
}
