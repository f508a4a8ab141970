/**
 * The frame of every page, and the headers that keep it to itself: no script at all, no other site's frame around it,
 * nothing of it in a cache.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { html, Html } from './html.ts'

export interface Page {
  title: string
  body: Html
  /**
   * Where its forms may lead besides this service, in a redirect too: origins (`https://app.example`) and schemes
   * (`cursor:`) as `form-action` takes them.
   */
  formAction?: readonly string[]
}

const style = `
:root { color-scheme: light dark; --line: #8886; --accent: #2457c5; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --accent: #8ab0ff; --bad: #ff8a80 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 46rem }
body > header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; flex-wrap: wrap }
main.narrow { max-width: 24rem; margin: 10vh auto 0 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem }
label { display: block; margin: .75rem 0 }
label.choice { display: inline-block; margin: 0 1rem .25rem 0 }
fieldset { border: 0; padding: 0; margin: .75rem 0 } legend { padding: 0 }
input:not([type=checkbox], [type=radio]), select { display: block; width: 100%; font: inherit; padding: .45rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: transparent; color: inherit }
button { font: inherit; padding: .45rem 1rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: Canvas; cursor: pointer }
button.plain { background: transparent; color: var(--accent) } button.bad { background: transparent; border-color: var(--bad); color: var(--bad) }
form.inline { display: inline }
table { border-collapse: collapse; width: 100%; font-size: .9rem } th, td { text-align: left; padding: .4rem .5rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
code.secret { display: block; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere; user-select: all }
p.note, small { opacity: .75 } p.fault { color: var(--bad); border-left: 3px solid var(--bad); padding-left: .75rem }
a { color: var(--accent) }
`
/** Not in a template: what the hash is of must not be laid out anew. */
const styleElement = new Html(`<style>${style}</style>`)
const styleHash = createHash('sha256').update(style).digest('base64')

const shell = ({ title, body }: Page): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Corkboard</title>
        ${styleElement}
      </head>
      <body>
        ${body}
      </body>
    </html> `

export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return keepToItself(reply, page.formAction)
    .code(status)
    .type('text/html; charset=utf-8')
    .send(renderPage(page))
}

/** @param to a local path, or an address of which the caller is sure */
export const sendTo = (reply: FastifyReply, to: string): FastifyReply => keepToItself(reply).redirect(to, 303)

/** The API is for any page in a browser (CORS), this is for none. */
function keepToItself(reply: FastifyReply, formAction?: readonly string[]): FastifyReply {
  return reply
    .headers(pageHeaders(formAction))
    .removeHeader('access-control-allow-origin')
    .removeHeader('access-control-expose-headers')
}

/** The page alone, for whoever sends it with `pageHeaders`. */
export const renderPage = (page: Page): string => shell(page).text

/** @throws when a source would end the directive */
export function pageHeaders(formAction: readonly string[] = []): Record<string, string> {
  const bad = formAction.find((source) => !/^[\w.:/[\]*+-]+$/.test(source))
  if (bad !== undefined) throw new Error(`not a source of form-action: ${JSON.stringify(bad)}`)
  return {
    'content-security-policy': [
      `default-src 'none'`,
      `style-src 'sha256-${styleHash}'`,
      ['form-action', `'self'`, ...formAction].join(' '),
      `frame-ancestors 'none'`,
      `base-uri 'none'`,
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // With `no-referrer` browsers would send `Origin: null` with the very forms of these pages.
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  }
}
