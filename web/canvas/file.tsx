/** Files on cards. They need a token, so they are fetched, and shown from memory. */
import { useEffect, useState, type ReactNode } from 'react'
import { fileUrl } from '../service/api.ts'

type Fetched = { is: 'waiting' } | { is: 'here'; url: string } | { is: 'failed'; why: string }

/** @param width as for `fileUrl`. @param key null: nothing is fetched yet */
function useFile(key: string | null, width: number | null): Fetched {
  const [fetched, setFetched] = useState<Fetched>({ is: 'waiting' })
  useEffect(() => {
    if (key === null) return
    let isCurrent = true
    fileUrl(key, width).then(
      (url) => isCurrent && setFetched({ is: 'here', url }),
      (error: Error) => isCurrent && setFetched({ is: 'failed', why: error.message }),
    )
    return () => {
      isCurrent = false
    }
  }, [key, width])
  return fetched
}

const widthStep = 160

/** A picture, fetched in about the size in which it is shown. */
export function Picture({
  imageKey,
  alt,
  width,
}: {
  imageKey: string
  alt: string
  width: number
}): ReactNode {
  const pixels = Math.ceil((width * devicePixelRatio) / widthStep) * widthStep
  const file = useFile(imageKey, pixels)
  if (file.is === 'waiting') return <div className="picture waiting" aria-hidden="true" />
  if (file.is === 'failed') return <div className="picture failed">This picture is not available.</div>
  return <img className="picture" src={file.url} alt={alt} draggable={false} />
}

/** A video or audio. It is fetched when somebody wants to play it, because it can be large. */
export function Player({
  fileKey,
  kind,
  label,
}: {
  fileKey: string
  kind: 'video' | 'audio'
  label: string
}): ReactNode {
  const [isWanted, setWanted] = useState(false)
  const file = useFile(isWanted ? fileKey : null, null)
  if (!isWanted)
    return (
      <button type="button" className="nodrag plain" onClick={() => setWanted(true)}>
        ▶ Play<span className="hidden"> {label}</span>
      </button>
    )
  if (file.is === 'waiting') return <p className="quiet">Loading…</p>
  if (file.is === 'failed') return <p className="quiet">{file.why}</p>
  const shared = {
    className: 'nodrag player',
    src: file.url,
    controls: true,
    autoPlay: true,
    'aria-label': label,
  }
  return kind === 'video' ? <video {...shared} /> : <audio {...shared} />
}

/** Saves a file on this device. */
export function Download({ fileKey, name }: { fileKey: string; name: string }): ReactNode {
  const [fault, setFault] = useState<string | null>(null)
  const save = async () => {
    try {
      const link = document.createElement('a')
      link.href = await fileUrl(fileKey, null)
      link.download = name
      link.click()
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  return (
    <>
      <button type="button" className="nodrag plain" onClick={() => void save()}>
        Download<span className="hidden"> {name}</span>
      </button>
      {fault !== null && <p className="quiet">{fault}</p>}
    </>
  )
}
