import { html, type Html } from '../sign-in/html.ts'

/** To the minute, UTC: without a script nobody knows where the reader is. */
export function time(at: Date | null, otherwise: string): Html {
  if (!at) return html`${otherwise}`
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`
}
