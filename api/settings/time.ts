import { html, type Html } from '../sign-in/html.ts'

/** A time to the minute, in UTC: without a script the page can't know the reader's time zone. */
export function time(at: Date | null, otherwise: string): Html {
  if (!at) return html`${otherwise}`
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`
}
