import { Writable } from 'node:stream'
import pino, { type Logger } from 'pino'

/** A log whose lines a test reads. */
export function logLines(level = 'info'): { log: Logger; lines: string[]; about(text: string): string[] } {
  const lines: string[] = []
  const log = pino(
    { level },
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk))
        done()
      },
    }),
  )
  return { log, lines, about: (text) => lines.filter((line) => line.includes(text)) }
}
