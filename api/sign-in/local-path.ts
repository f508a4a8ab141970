/**
 * Validates where to redirect after sign-in: only to a path of this service. Null for anything that a browser or proxy
 * could read as another host (`//evil`, `/\evil`, `/%2F/evil`) or could split (control characters).
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

/** A path that does not decode becomes `//`, which is refused. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return '//'
  }
}

const isPlain = (path: string) => /^\/(?![/\\])/.test(path) && !/[\p{Cc}\\]/u.test(path)
