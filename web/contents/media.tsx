/** Videos, audios, PDFs and other files on cards, and what plays, opens and saves them. */
import { useState, type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { textOf } from '../board/values.ts'
import { sizeText } from '../files/size-text.ts'
import { Download, OpenPdf } from './buttons.tsx'
import { Caption, Missing, Preview, useFileUrl } from './file.tsx'
import { Icon } from './icons.tsx'
import { kindName } from './kinds.ts'
import { Words } from './words.tsx'

type Shown = { card: Card }

const nameOf = (card: Card) => textOf(card['file_name']) ?? card.title ?? kindName(card.kind)

export function Video({ card }: Shown): ReactNode {
  const key = textOf(card['file_key'])
  return (
    <figure>
      {key === null ? (
        <div className="picture missing">
          <Icon is="video" />
          <p>No video yet.</p>
        </div>
      ) : (
        <Player
          key={key}
          kind="video"
          {...{ fileKey: key, posterKey: textOf(card['poster_key']), label: nameOf(card) }}
        />
      )}
      <Caption title={card.title ?? nameOf(card)} body={card.body} />
    </figure>
  )
}

export function Audio({ card }: Shown): ReactNode {
  const key = textOf(card['file_key'])
  return (
    <>
      <div className="named">
        <Icon is="audio" />
        <h3>{card.title ?? nameOf(card)}</h3>
      </div>
      {key === null ? (
        <p className="quiet">No audio yet.</p>
      ) : (
        <Player key={key} kind="audio" {...{ fileKey: key, posterKey: null, label: nameOf(card) }} />
      )}
      <Words card={card} />
    </>
  )
}

export function File({ card }: Shown): ReactNode {
  const [key, size] = [textOf(card['file_key']), card['size_bytes']]
  const type = (textOf(card['ext']) ?? kindName(card.kind)).toUpperCase()
  return (
    <>
      <Preview card={card} field="image_key" />
      <div className="named">
        <Icon is={card.kind === 'pdf' ? 'pdf' : 'file'} />
        <div>
          <h3>{card.title ?? nameOf(card)}</h3>
          <p className="quiet">
            {type}
            {typeof size === 'number' && ` · ${sizeText(size)}`}
          </p>
        </div>
      </div>
      {key === null ? (
        <p className="quiet">No file yet.</p>
      ) : (
        <div className="buttons">
          {card.kind === 'pdf' && <OpenPdf key={key} fileKey={key} name={nameOf(card)} />}
          <Download key={`${key} saved`} fileKey={key} name={nameOf(card)} />
        </div>
      )}
      {card.body !== '' && <p className="quiet">{card.body}</p>}
    </>
  )
}

interface PlayerProps {
  fileKey: string
  posterKey: string | null
  kind: 'video' | 'audio'
  label: string
}

/** A video or audio. The browser fetches what it plays, piece by piece. */
function Player({ fileKey, posterKey, kind, label }: PlayerProps): ReactNode {
  const [file, renew] = useFileUrl(fileKey, null)
  const [poster] = useFileUrl(posterKey, 640)
  /** An address that has ended is renewed once. */
  const [faults, setFaults] = useState(0)
  if (file.is === 'waiting') return <div className="player waiting" aria-hidden="true" />
  if (file.is === 'failed' && file.isGone)
    return <Missing says={`This ${kind} is gone, or you may not see it.`} />
  if (file.is === 'failed')
    return <Missing says={`This ${kind} can’t be loaded at the moment.`} again={renew} />
  if (faults > 1)
    return <Missing says={`This browser can’t play this ${kind}.`} {...{ fileKey, name: label }} />
  const shared = {
    ...{ className: 'nodrag nopan player', src: file.url, controls: true, preload: 'metadata' },
    ...{ 'aria-label': label },
    onError() {
      setFaults(faults + 1)
      renew()
    },
  }
  if (kind === 'audio') return <audio {...shared} />
  return <video {...shared} playsInline {...(poster.is === 'here' ? { poster: poster.url } : {})} />
}
