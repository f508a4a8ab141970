/** Files on cards, from addresses that the service signs for this account. */
import { useCallback, useContext, useEffect, useRef, useState, type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { textOf } from '../board/values.ts'
import { Later, part } from '../controls/later.tsx'
import { Refused } from '../service/api.ts'
import { fileUrl, forgetUrl, widthFor } from '../service/file-urls.ts'
import { Icon } from './icons.tsx'
import { ScaleContext } from './scale.ts'

type Fetched = { is: 'waiting' } | { is: 'here'; url: string } | { is: 'failed'; isGone: boolean }

/** @param key null: there is no file. @returns the address, and a function that asks for another one */
export function useFileUrl(key: string | null, width: number | null): [Fetched, () => void] {
  const [fetched, setFetched] = useState<Fetched>({ is: 'waiting' })
  const [asked, setAsked] = useState(0)
  useEffect(() => {
    if (key === null) return
    let isCurrent = true
    fileUrl(key, width).then(
      (url) => isCurrent && setFetched({ is: 'here', url }),
      (error: unknown) => {
        const isGone = error instanceof Refused && error.status === 404
        if (isCurrent) setFetched({ is: 'failed', isGone })
      },
    )
    return () => {
      isCurrent = false
    }
  }, [key, width, asked])
  const renew = useCallback(() => {
    if (key !== null) forgetUrl(key, width)
    setAsked((before) => before + 1)
  }, [key, width])
  return [fetched, renew]
}

const Download = part(async () => (await import('./buttons.tsx')).Download)

interface PictureProps {
  imageKey: string
  alt: string
  /** In pixels of the canvas. */
  width: number
}

/** A picture, in about the size in which it is shown. It is never replaced by a smaller one. */
export function Picture({ imageKey, alt, width }: PictureProps): ReactNode {
  const fitting = widthFor(width * useContext(ScaleContext) * devicePixelRatio)
  const largest = useRef(0)
  largest.current = Math.max(largest.current, fitting)
  // The service makes no smaller ones of a heic, or of very many pixels.
  const [shows, setShows] = useState<'fitting' | 'whole' | 'nothing'>('fitting')
  const [file, renew] = useFileUrl(imageKey, shows === 'fitting' ? largest.current : null)
  if (shows === 'nothing')
    return <Missing says="This browser can’t show this picture." fileKey={imageKey} name={alt} />
  if (file.is === 'waiting') return <div className="picture waiting" aria-hidden="true" />
  if (file.is === 'failed')
    return file.isGone ? (
      <Missing says="This picture is gone, or you may not see it." />
    ) : (
      <Missing says="This picture can’t be loaded at the moment." again={renew} />
    )
  return (
    <img
      className="picture"
      src={file.url}
      alt={alt}
      draggable={false}
      decoding="async"
      onError={() => setShows(shows === 'fitting' ? 'whole' : 'nothing')}
    />
  )
}

interface MissingProps {
  says: string
  again?: () => void
  /** A file that can be saved, although it can't be shown. */
  fileKey?: string
  name?: string
}

export function Missing({ says, again, fileKey, name = '' }: MissingProps): ReactNode {
  return (
    <div className="picture missing">
      <Icon is="picture" />
      <p>{says}</p>
      {again && (
        <button type="button" className="nodrag plain" onClick={again}>
          Try again
        </button>
      )}
      {fileKey !== undefined && (
        <Later>
          <Download fileKey={fileKey} name={name} />
        </Later>
      )}
    </div>
  )
}

/** A picture beside what the card is. */
export function Preview({ card, field }: { card: Card; field: string }): ReactNode {
  const key = textOf(card[field])
  return key !== null && <Picture key={key} imageKey={key} alt="" width={card.w} />
}

/** The words below a picture or a video. */
export function Caption({ title, body }: { title: string; body: string }): ReactNode {
  const words = [title, body].filter((one) => one !== '').join(' – ')
  return words !== '' && <figcaption>{words}</figcaption>
}
