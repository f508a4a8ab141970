/** Prints a command's result on standard output: one JSON object on one line. */
export function answer(body: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(body)}\n`)
}
