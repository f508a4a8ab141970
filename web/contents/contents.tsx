/** What a card shows, by its kind. */
import { type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { textOf } from '../board/values.ts'
import { Later, part } from '../controls/later.tsx'
import { Caption, Picture, Preview } from './file.tsx'
import { Icon } from './icons.tsx'
import { isKnownKind } from './kinds.ts'
import type * as Media from './media.tsx'
import { openable } from './openable.ts'
import { Words } from './words.tsx'

type Shown = { card: Card }

export function Contents({ card }: Shown): ReactNode {
  if (card['section_header'] === true) return <Section card={card} />
  if (!isKnownKind(card.kind)) return <Foreign card={card} />
  const Kind = kinds[card.kind] ?? Note
  return <Kind card={card} />
}

const Title = ({ card }: Shown): ReactNode =>
  card.title !== null && card.title !== '' && <h3>{card.title}</h3>

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
    {card.body !== '' && <p className="quiet">{card.body}</p>}
  </>
)

function Image({ card }: Shown): ReactNode {
  const key = textOf(card['image_key'])
  const words = card.title || card.body || textOf(card['file_name'])
  const alt = textOf(card['alt']) ?? (words || 'A picture without a description')
  return (
    <figure>
      {key === null ? (
        <div className="picture missing">
          <Icon is="picture" />
          <p>No picture yet.</p>
        </div>
      ) : (
        <Picture key={key} imageKey={key} alt={alt} width={card.w} />
      )}
      <Caption title={card.title ?? ''} body={card.body} />
    </figure>
  )
}

function Link({ card }: Shown): ReactNode {
  const url = openable(textOf(card['url']))
  const address = url && (url.host || url.pathname)
  return (
    <>
      <Preview card={card} field="image_key" />
      <Title card={card} />
      {card.body !== '' && <p className="quiet description">{card.body}</p>}
      {url ? (
        <a className="nodrag address" href={url.href} target="_blank" rel="noopener noreferrer">
          <Icon is="link" />
          <span>{card.title ? address : url.href}</span>
        </a>
      ) : (
        <p className="quiet">This link has no address that can be opened.</p>
      )}
    </>
  )
}

/** What plays, opens or saves files is loaded with the first card that has one. */
const lazily = (pick: (media: typeof Media) => (shown: Shown) => ReactNode) => {
  const Kind = part(async () => pick(await import('./media.tsx')))
  return ({ card }: Shown): ReactNode => (
    <Later>
      <Kind card={card} />
    </Later>
  )
}
const Video = lazily(({ Video }) => Video)
const Audio = lazily(({ Audio }) => Audio)
const File = lazily(({ File }) => File)

const kinds: Record<string, (shown: Shown) => ReactNode> = {
  ...{ note: Note, doc: Note, image: Image, link: Link, video: Video, audio: Audio, pdf: File, file: File },
}
