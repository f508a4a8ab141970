/**
 * Shows the Markdown that people write on cards: paragraphs, headings, lists, quotes, code, emphasis and links. It makes
 * elements and never HTML, so a text can't become anything else. (The library `marked` and a sanitizer would take 25 of
 * the 180 KB that the app may have.)
 */
import { memo, type ReactNode } from 'react'
import { openable } from './openable.ts'

/** A card shows no more of a text. A long one would take long to render, and nobody would see its end. */
const mostCharacters = 4000

export const Markdown = memo(function Markdown({ text }: { text: string }): ReactNode {
  return blocksOf(text.slice(0, mostCharacters).split(/\r?\n/)).map((block, at) => (
    <Block key={at} block={block} />
  ))
})

type BlockKind = 'p' | 'ul' | 'ol' | 'blockquote' | 'pre' | 'h'
interface Block {
  is: BlockKind
  lines: string[]
}

const marks: [BlockKind, RegExp][] = [
  ['h', /^#{1,6} +(.*)$/],
  ['ul', /^\s*[-*+] +(.*)$/],
  ['ol', /^\s*\d{1,9}[.)] +(.*)$/],
  ['blockquote', /^> ?(.*)$/],
]

function readLine(line: string): { is: BlockKind; words: string } {
  for (const [is, pattern] of marks) {
    const words = pattern.exec(line)?.[1]
    if (words !== undefined) return { is, words }
  }
  return { is: 'p', words: line }
}

function blocksOf(lines: string[]): Block[] {
  const blocks: Block[] = []
  /** Whether the next line may belong to the last block. */
  let isOpen = false
  for (const line of lines) {
    const last: Block | undefined = isOpen ? blocks.at(-1) : undefined
    if (line.startsWith('```')) {
      isOpen = last?.is !== 'pre'
      if (isOpen) blocks.push({ is: 'pre', lines: [] })
    } else if (last?.is === 'pre') last.lines.push(line)
    else if (line.trim() === '') isOpen = false
    else {
      const { is, words } = readLine(line)
      if (last?.is === is && is !== 'h') last.lines.push(words)
      else blocks.push({ is, lines: [words] })
      isOpen = true
    }
  }
  return blocks
}

function Block({ block: { is, lines } }: { block: Block }): ReactNode {
  const Tag = is
  if (Tag === 'pre') return <pre>{lines.join('\n')}</pre>
  if (Tag === 'h') return <h4>{inline(lines[0]!)}</h4>
  if (Tag === 'ul' || Tag === 'ol')
    return (
      <Tag>
        {lines.map((line, at) => (
          <li key={at}>{inline(line)}</li>
        ))}
      </Tag>
    )
  return (
    <Tag>
      {lines.flatMap((line, at) =>
        at === 0 ? inline(line) : [<br key={`line ${at}`} />, ...inline(line, at)],
      )}
    </Tag>
  )
}

/** Code, link, bold, struck, emphasis, address. What is within is read again, except in code. */
const spans =
  /`([^`]+)`|\[([^\]]+)\]\(([^\s)]+)\)|\*\*(\S(?:.*?\S)?)\*\*|~~(\S(?:.*?\S)?)~~|\*(\S(?:[^*]*?\S)?)\*|\b_(\S(?:[^_]*?\S)?)_\b|(https?:\/\/[^\s<>"')]+)/g

function inline(text: string, line = 0): ReactNode[] {
  const shown: ReactNode[] = []
  let at = 0
  for (const found of text.matchAll(spans)) {
    shown.push(text.slice(at, found.index), spanOf(found, `${line} ${found.index}`))
    at = found.index + found[0].length
  }
  return [...shown, text.slice(at)]
}

function spanOf(
  [whole, code, label, target, bold, struck, ...others]: RegExpExecArray,
  key: string,
): ReactNode {
  const emphasis = others[0] ?? others[1]
  if (code !== undefined) return <code key={key}>{code}</code>
  if (bold !== undefined) return <strong key={key}>{inline(bold)}</strong>
  if (struck !== undefined) return <del key={key}>{inline(struck)}</del>
  if (emphasis !== undefined) return <em key={key}>{inline(emphasis)}</em>
  const url = openable(target ?? whole)
  if (!url) return whole
  return (
    <a key={key} className="nodrag" href={url.href} target="_blank" rel="noopener noreferrer">
      {label ?? whole}
    </a>
  )
}
