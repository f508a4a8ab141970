/**
 * Where to go on after signing in: a path of this service, never somewhere else. What a browser or a proxy could read
 * as a host (`//evil`, `/\evil`, `/%2F/evil`) or cut in two (control characters) is none.
 */
export function localPath(given: unknown): string | null {
  if (typeof given !== 'string' || given.length > longest) return null
  if (!/^\/[\x21-\x7e]*$/.test(given) || given.includes('\\')) return null
  const [path = ''] = given.split(/[?#]/, 1)
  return isPlain(path) && isPlain(decoded(path)) && isPlain(URL.parse(given, base)?.pathname ?? '//')
    ? given
    : null
}

const longest = 8000
const base = 'http://corkboard.invalid'

/** Of a path that does not decode no word is believed. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return '//'
  }
}

const isPlain = (path: string) => /^\/(?![/\\])/.test(path) && !/[\p{Cc}\\]/u.test(path)
