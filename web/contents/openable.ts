/** The address when it is one that may be opened, by the same rule as the API's. Null for `javascript:` and the like. */
export function openable(url: string | null): URL | null {
  const parsed = url === null ? null : URL.parse(url)
  return parsed && ['http:', 'https:', 'mailto:'].includes(parsed.protocol) ? parsed : null
}
