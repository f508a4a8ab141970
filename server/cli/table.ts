/** Returns a text table. Each column is as wide as its widest cell, and two spaces separate columns. */
export function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)))
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
