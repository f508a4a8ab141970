/** Returns a text table. Each column is as wide as its widest cell, and two spaces separate columns. */
export function formatTable(rows: string[][]): string {
  const shown = rows.map((row) => row.map(withEscapes))
  const widths = shown[0]!.map((_, at) => Math.max(...shown.map((row) => row[at]?.length ?? 0)))
  const lines = shown.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** Cells have names that anybody may choose. Some signs would move the cursor, or show text in another order. */
const withEscapes = (cell: string) =>
  cell.replace(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
