/** How large a card is that shows a text. */
import type { Frame } from './side-by-side.ts'

/** The most characters that a card can hold. */
export const mostText = 20_000
const [width, lineHeight, padding] = [280, 22, 44]
const charactersOfLine = 34
const height = { least: 120, most: 480 }

export function noteSize(text: string): Pick<Frame, 'w' | 'h'> {
  const lines = text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / charactersOfLine)), 0)
  return { w: width, h: Math.min(height.most, Math.max(height.least, padding + lines * lineHeight)) }
}
