/** What a card shows, by its kind. */
import { useEffect, useState, type ReactNode } from 'react'
import { textOf, type Card } from '../board/cards.ts'
import { Download, Picture, Player } from './file.tsx'
import { Markdown } from './markdown.tsx'
import { isKnownKind, kindName } from './nodes.ts'
import { openable } from './openable.ts'

type Shown = { card: Card }

export function Contents({ card }: Shown): ReactNode {
  if (card['section_header'] === true) return <Section card={card} />
  if (!isKnownKind(card.kind)) return <Foreign card={card} />
  const Kind = kinds[card.kind] ?? Note
  return <Kind card={card} />
}

const Title = ({ card }: Shown): ReactNode =>
  card.title !== null && card.title !== '' && <h3>{card.title}</h3>

function Words({ card }: Shown): ReactNode {
  const html = useSafeHtml(textOf(card['html']))
  if (html !== null) return <div className="words" dangerouslySetInnerHTML={{ __html: html }} />
  return (
    <div className="words">
      <Markdown text={card.body} />
    </div>
  )
}

/** The sanitizer is loaded with the first card that has HTML. @returns null until then, and for a card without HTML */
function useSafeHtml(html: string | null): string | null {
  const [safe, setSafe] = useState<string | null>(null)
  useEffect(() => {
    if (html === null) return setSafe(null)
    let isCurrent = true
    const show = async () => {
      const { safeHtml } = await import('./safe-html.ts')
      if (isCurrent) setSafe(safeHtml(html))
    }
    // Without the sanitizer the card shows its plain text.
    show().catch(() => setSafe(null))
    return () => {
      isCurrent = false
    }
  }, [html])
  return safe
}

const Note = ({ card }: Shown): ReactNode => (
  <>
    <Title card={card} />
    <Words card={card} />
  </>
)

const Section = ({ card }: Shown): ReactNode => (
  <>
    <h2>{card.title}</h2>
    {textOf(card['sub']) !== null && <p className="quiet">{textOf(card['sub'])}</p>}
  </>
)

/** A kind that this app does not know. Another editor has made it, and can show it. */
const Foreign = ({ card }: Shown): ReactNode => (
  <>
    <p className="label">{card.kind}</p>
    <Title card={card} />
    <p className="quiet">{card.body}</p>
  </>
)

function Image({ card }: Shown): ReactNode {
  const key = textOf(card['image_key'])
  const caption = card.title ?? card.body
  return (
    <figure>
      {key === null ? (
        <div className="picture waiting" />
      ) : (
        <Picture imageKey={key} alt={textOf(card['alt']) ?? card.title ?? ''} width={card.w} />
      )}
      {caption !== '' && <figcaption>{caption}</figcaption>}
    </figure>
  )
}

function Link({ card }: Shown): ReactNode {
  const url = openable(textOf(card['url']))
  const key = textOf(card['image_key'])
  return (
    <>
      {key !== null && <Picture imageKey={key} alt="" width={card.w} />}
      <Title card={card} />
      {card.body !== '' && <p className="quiet">{card.body}</p>}
      {url && (
        <a className="nodrag" href={url.href} target="_blank" rel="noopener noreferrer">
          {url.host || url.pathname}
        </a>
      )}
    </>
  )
}

const fileName = (card: Card) => textOf(card['file_name']) ?? card.title ?? kindName(card.kind)

function Media({ card }: Shown): ReactNode {
  const [key, poster] = [textOf(card['file_key']), textOf(card['poster_key'])]
  return (
    <>
      {poster !== null && <Picture imageKey={poster} alt="" width={card.w} />}
      <p className="label">{kindName(card.kind)}</p>
      <Title card={card} />
      {key !== null && (
        <Player fileKey={key} kind={card.kind === 'video' ? 'video' : 'audio'} label={fileName(card)} />
      )}
      {card.body !== '' && <p className="quiet">{card.body}</p>}
    </>
  )
}

function File({ card }: Shown): ReactNode {
  const [key, preview, size] = [textOf(card['file_key']), textOf(card['image_key']), card['size_bytes']]
  return (
    <>
      {preview !== null && <Picture imageKey={preview} alt="" width={card.w} />}
      <p className="label">{textOf(card['ext']) ?? kindName(card.kind)}</p>
      <h3>{fileName(card)}</h3>
      {typeof size === 'number' && <p className="quiet">{bytes(size)}</p>}
      {key !== null && <Download fileKey={key} name={fileName(card)} />}
    </>
  )
}

const bytes = (size: number) =>
  size < 1_000_000 ? `${Math.ceil(size / 1000)} KB` : `${(size / 1_000_000).toFixed(1)} MB`

const kinds: Record<string, (shown: Shown) => ReactNode> = {
  ...{ note: Note, doc: Note, image: Image, link: Link, video: Media, audio: Media, pdf: File, file: File },
}
