/** Progress of long work, for a person: one line on a terminal's standard error, nothing where that is not one. */
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
