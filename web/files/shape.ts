/** Which card a file becomes, and how large it is. */
import { mostText } from './note-size.ts'
import type { Frame } from './side-by-side.ts'

export type FileKind = 'image' | 'video' | 'audio' | 'pdf' | 'doc' | 'file'
export type Size = Pick<Frame, 'w' | 'h'>

export interface Shape extends Size {
  kind: FileKind
}

const unknown: Record<FileKind, Size> = {
  image: { w: 320, h: 240 },
  video: { w: 480, h: 270 },
  audio: { w: 320, h: 140 },
  pdf: { w: 280, h: 180 },
  doc: { w: 320, h: 240 },
  file: { w: 280, h: 140 },
}
/** A photo has thousands of pixels. A card that large would hide the board. */
export const longestSide = 480
const shortestSide = 40
/** Under a video is a line with its name. */
const captionHeight = 40

export const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/heic', 'image/avif']
const isText = ({ name, type, size }: File) =>
  size > 0 && size <= mostText && (/\.(md|markdown|txt)$/i.test(name) || type === 'text/markdown')

export function kindOf(file: File): FileKind {
  if (imageTypes.includes(file.type)) return 'image'
  if (file.type === 'application/pdf') return 'pdf'
  if (isText(file)) return 'doc'
  if (file.type.startsWith('video/')) return 'video'
  return file.type.startsWith('audio/') ? 'audio' : 'file'
}

/** @param preview address of the file in this window */
export async function shapeOf(file: File, preview: string): Promise<Shape> {
  const kind = kindOf(file)
  const natural = await naturalSize(kind, file, preview)
  if (!natural) return { kind, ...unknown[kind] }
  const { w, h } = fitted(natural)
  return { kind, w, h: kind === 'video' ? h + captionHeight : h }
}

async function naturalSize(kind: FileKind, file: File, preview: string): Promise<Size | null> {
  if (kind === 'image') {
    // A kind of image that this browser can't show may still be one that the service takes.
    const bitmap = await createImageBitmap(file).catch(() => null)
    const size = bitmap && { w: bitmap.width, h: bitmap.height }
    bitmap?.close()
    return size
  }
  return kind === 'video' ? videoSize(preview) : null
}

const mostPatienceMs = 3000

function videoSize(url: string): Promise<Size | null> {
  return new Promise((resolve) => {
    const video = document.createElement('video')
    const found = () => resolve(video.videoWidth > 0 ? { w: video.videoWidth, h: video.videoHeight } : null)
    for (const type of ['loadedmetadata', 'error']) video.addEventListener(type, found)
    setTimeout(found, mostPatienceMs)
    video.preload = 'metadata'
    video.src = url
  })
}

/** The same proportions, no larger than a card should be, and no smaller than one can be. */
export function fitted({ w, h }: Size, longest = longestSide): Size {
  const scale = Math.min(1, longest / Math.max(w, h))
  const side = (pixels: number) => Math.max(shortestSide, Math.round(pixels * scale))
  return { w: side(w), h: side(h) }
}
