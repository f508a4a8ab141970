/**
 * Addresses of files for `img`, `video` and `audio`, which send no token. The service signs them for at most an hour. They
 * stay the same for half an hour, so the browser's cache has what was shown before. Those that are asked for at about the
 * same time go in one request.
 */
import { Refused, request } from './api.ts'

/** The widths in which the service makes pictures. */
const widths = [160, 320, 640, 960, 1280, 1920]

/** @param pixels of the screen. @returns the width to ask for */
export const widthFor = (pixels: number): number =>
  widths.find((one) => one >= pixels) ?? widths[widths.length - 1]!

interface Asked {
  image_key: string
  w?: number
}

interface Signed {
  url: string
  endsAt: number
}

const known = new Map<string, Promise<Signed>>()
const waiting = new Map<string, Asked & { resolve(signed: Signed): void; reject(error: unknown): void }>()
/** Cards that come into view together ask within this time. */
const gatherMs = 15
const mostPerRequest = 500
/** An address that ends sooner is renewed. */
const aheadMs = 60_000

/** As the service makes them. Anybody can have written anything else, and would spoil the request for all. */
const keyPattern = /^f[A-Za-z0-9_-]{24}(\.[a-z0-9]{1,10})?$/

/** @param width as `widthFor` says; null: the file itself. @throws Refused: 404 for a file that is gone or not to be seen */
export async function fileUrl(key: string, width: number | null): Promise<string> {
  if (!keyPattern.test(key)) throw noFile()
  const name = nameOf(key, width)
  const before = known.get(name)
  if (before) {
    const { url, endsAt } = await before
    if (endsAt > Date.now() + aheadMs) return url
  }
  // Somebody else may have asked meanwhile.
  if (known.get(name) === before)
    known.set(name, ask(name, { image_key: key, ...(width ? { w: width } : {}) }))
  return (await known.get(name)!).url
}

const noFile = () => new Refused(404, 'There is no file with this key, or you may not see it.')

const nameOf = (key: string, width: number | null | undefined) => `${key} ${width ?? ''}`

function ask(name: string, asked: Asked): Promise<Signed> {
  const signed = new Promise<Signed>((resolve, reject) => {
    if (waiting.size === 0) setTimeout(() => void askForAll(), gatherMs)
    waiting.set(name, { ...asked, resolve, reject })
  })
  signed.catch(() => known.delete(name))
  return signed
}

/** Forgets an address that did not work. */
export const forgetUrl = (key: string, width: number | null): void => void known.delete(nameOf(key, width))

async function askForAll(): Promise<void> {
  const all = [...waiting.values()]
  waiting.clear()
  for (let from = 0; from < all.length; from += mostPerRequest) {
    const batch = all.slice(from, from + mostPerRequest)
    try {
      const urls = await sign(batch.map(({ image_key, w }) => ({ image_key, ...(w ? { w } : {}) })))
      for (const { image_key, w, resolve, reject } of batch) {
        const signed = urls.get(nameOf(image_key, w))
        if (signed) resolve(signed)
        else reject(noFile())
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

async function sign(images: Asked[]): Promise<Map<string, Signed>> {
  const answer = await request('/images/urls', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ images }),
  })
  const signed = (await answer.json()) as {
    images: { image_key: string; w: number | null; url: string }[]
    expires_at: string
  }
  const endsAt = Date.parse(signed.expires_at)
  return new Map(signed.images.map(({ image_key, w, url }) => [nameOf(image_key, w), { url, endsAt }]))
}
