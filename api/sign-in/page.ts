/**
 * The HTML around every page, and the headers that protect it: the page runs no script, loads only the icon, and can't be
 * framed by another site. By default pages are not cached.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { html, Html } from './html.ts'

export interface Page {
  title: string
  body: Html
  /**
   * Other targets that its forms may reach, also by a redirect: origins (`https://app.example`) and schemes (`cursor:`) in
   * the syntax of `form-action`.
   */
  formAction?: readonly string[]
}

/** server/pages/icon.ts serves it. */
export const iconPath = '/icon.svg'

const style = `
:root { color-scheme: light dark; --page: #fff; --text: #1b1b1f; --quiet: #55565e; --line: #d3d3da; --edge: #767680; --accent: #2457c5; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --page: #141416; --text: #e4e4e8; --quiet: #a9aab4; --line: #3c3c44; --edge: #85858f; --accent: #8ab0ff; --bad: #ff8a80 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem 1rem 3rem; max-width: 60rem; background: var(--page); color: var(--text); overflow-wrap: anywhere }
header, footer { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; justify-content: space-between; font-size: .9rem }
header { padding-bottom: .5rem; border-bottom: 1px solid var(--line) } header p, header form { margin: 0 }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem } header form { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center }
main.narrow { max-width: 27rem; margin: 8vh auto 0; padding: clamp(1.25rem, 5vw, 2rem); border: 1px solid var(--line); border-radius: 14px }
main.narrow h1 { margin-top: 0; padding-top: 3.25rem; background: url(/icon.svg) no-repeat 0 0 / 2.5rem }
main.text { max-width: 46rem; margin: 0 auto }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem } h3 { font-size: 1rem }
form.fields { max-width: 26rem } label { display: block; margin: .75rem 0 }
label.choice { display: flex; gap: .6rem; align-items: flex-start; margin: .4rem 0 } label.choice input { flex: none; margin: .3rem 0 0 }
fieldset { border: 0; padding: 0; margin: .75rem 0; min-width: 0 } legend { padding: 0 }
input:not([type=checkbox], [type=radio]), select { display: block; width: 100%; font: inherit; padding: .45rem .6rem; border: 1px solid var(--edge); border-radius: 7px; background: transparent; color: inherit }
input[readonly] { color: var(--quiet) } input::placeholder { color: var(--quiet); opacity: 1 }
button, a.button { display: inline-block; font: inherit; font-weight: 500; line-height: 1.5; padding: .4rem 1rem; border: 1px solid var(--accent); border-radius: 7px; background: var(--accent); color: var(--page); cursor: pointer; text-decoration: none; white-space: nowrap }
button.plain, a.plain { background: transparent; color: var(--accent) } button.bad, a.bad { background: transparent; border-color: var(--bad); color: var(--bad) }
header button, td button, td a.button { padding: .15rem .6rem } td a.button { justify-self: start }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 } td .actions { margin: 0 }
table { border-collapse: collapse; width: 100%; font-size: .9rem } th, td { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top } th { white-space: nowrap }
time, td code { white-space: nowrap }
@media (max-width: 48rem) {
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
  table, tbody, tr, td { display: block } tr { padding: .75rem 0; border-bottom: 1px solid var(--line) } td { border: 0; padding: .1rem 0 }
  td[data-head] { display: grid; grid-template-columns: 8rem minmax(0, 1fr) } td[data-head]::before { content: attr(data-head); color: var(--quiet) }
}
code { font-size: .9em } code.secret { display: block; padding: .75rem; border: 1px solid var(--edge); border-radius: 6px; user-select: all }
p.note { color: var(--quiet) } p.fault { color: var(--bad); border-left: 3px solid var(--bad); padding-left: .75rem } p.notice { border-left: 3px solid var(--edge); padding-left: .75rem }
dt { font-weight: 600 } dd { margin: 0 0 .75rem } main li { margin: .4rem 0 } a { color: var(--accent) }
footer { margin-top: 3rem; padding-top: .75rem; border-top: 1px solid var(--line) } footer a { color: var(--quiet); text-decoration: none } footer a:hover { text-decoration: underline }
main.narrow + footer { border: 0; justify-content: center }
`
/** Not in a template: a formatter could change the text of the hash in `style-src`. */
const styleElement = new Html(`<style>${style}</style>`)
const styleHash = createHash('sha256').update(style).digest('base64')

const shell = ({ title, body }: Page): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Corkboard</title>
        <link rel="icon" href="${iconPath}" type="image/svg+xml" />
        ${styleElement}
      </head>
      <body>
        ${body}
        <footer>
          <nav aria-label="Corkboard">
            <a href="/">Corkboard</a> <a href="/docs">API reference</a> <a href="/changelog">Changelog</a>
            <a href="/settings">Settings</a>
          </nav>
        </footer>
      </body>
    </html> `

/** Sends a page that is not cached and that other sites can't read. */
export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return keepToItself(reply, page.formAction)
    .code(status)
    .type('text/html; charset=utf-8')
    .send(renderPage(page))
}

/** @param to a local path, or a URL that the caller has validated */
export const sendTo = (reply: FastifyReply, to: string): FastifyReply => keepToItself(reply).redirect(to, 303)

/** Removes the CORS headers: other sites may call the API, but not read pages. */
function keepToItself(reply: FastifyReply, formAction?: readonly string[]): FastifyReply {
  return reply
    .headers(pageHeaders(formAction))
    .removeHeader('access-control-allow-origin')
    .removeHeader('access-control-expose-headers')
}

/** The page as text, for callers that send it with `pageHeaders`. */
export const renderPage = (page: Page): string => shell(page).text

/** @throws Error when a source contains characters that could end the directive */
export function pageHeaders(formAction: readonly string[] = []): Record<string, string> {
  const bad = formAction.find((source) => !/^[\w.:/[\]*+-]+$/.test(source))
  if (bad !== undefined) throw new Error(`not a source of form-action: ${JSON.stringify(bad)}`)
  return {
    'content-security-policy': [
      `default-src 'none'`,
      `style-src 'sha256-${styleHash}'`,
      `img-src 'self'`,
      ['form-action', `'self'`, ...formAction].join(' '),
      `frame-ancestors 'none'`,
      `base-uri 'none'`,
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // With `no-referrer` browsers would send `Origin: null` with the forms of these pages.
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  }
}
