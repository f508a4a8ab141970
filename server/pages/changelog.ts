/** Serves CHANGELOG.md at `/changelog`, outside the API root, as HTML, JSON or Markdown. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lexer, parser, type Token, type Tokens } from 'marked'
import Negotiator from 'negotiator'
import { matches } from '../../api/files/byte-range.ts'
import { Html, html } from '../../api/sign-in/html.ts'
import { pageHeaders, renderPage } from '../../api/sign-in/page.ts'

const file = new URL('../../CHANGELOG.md', import.meta.url)

export interface Release {
  /** `Unreleased`, or a version. */
  version: string
  /** `YYYY-MM-DD`. */
  date: string | null
  /** One Markdown text for each entry, with the heading above it. Null when the entry has no heading. */
  changes: { heading: string | null; text: string }[]
}

interface Representation {
  type: string
  body: string
  etag: string
}

export async function registerChangelog(app: FastifyInstance): Promise<void> {
  const markdown = await readFile(file, 'utf8')
  const made = new Map<Type, Representation>()
  /** Made at the first request, because rendering would take a sixteenth of the CPU time of a start. */
  const shown = (type: Type): Representation => {
    const kept = made.get(type) ?? represent(type, bodies[type](markdown))
    made.set(type, kept)
    return kept
  }

  app.get('/changelog', (request, reply) => {
    reply.header('vary', 'accept')
    reply.header(
      'link',
      '</changelog.md>; rel="alternate"; type="text/markdown", </changelog.json>; rel="alternate"; type="application/json"',
    )
    // If the client accepts none of these types, it gets HTML.
    const [type = 'text/html'] = new Negotiator(request.raw).mediaTypes(types)
    return answer(shown(type as Type), request, reply)
  })
  app.get('/changelog.md', (request, reply) => answer(shown('text/markdown'), request, reply))
  app.get('/changelog.json', (request, reply) => answer(shown('application/json'), request, reply))
}

/** The changelog changes only with a new version of the service, so caches may keep it for some minutes. */
function answer(shown: Representation, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ ...pageHeaders(), 'cache-control': 'public, max-age=300', etag: shown.etag })
  if (matches(request.headers['if-none-match'], shown.etag)) return reply.code(304).send()
  return reply.header('content-type', shown.type).send(shown.body)
}

function represent(type: Type, body: string): Representation {
  return {
    type: `${type}; charset=utf-8`,
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
  }
}

const jsonOf = (markdown: string) => `${JSON.stringify({ releases: readReleases(markdown) }, null, 2)}\n`

/** Reads headings such as `## 1.2.0 – 2026-11-21`, with optional headings such as `### Added` and lists below. */
export function readReleases(markdown: string): Release[] {
  const releases: Release[] = []
  let heading: string | null = null
  for (const token of lexer(markdown)) {
    if (isHeading(token) && token.depth === 2) {
      const [, version = '', date = null] =
        /^\[?(.*?)\]?(?:\s+\W*(\d{4}-\d\d-\d\d)\W*)?$/.exec(token.text) ?? []
      releases.push({ version, date, changes: [] })
      heading = null
    } else if (isHeading(token) && token.depth > 2) heading = token.text
    else if (token.type === 'list')
      for (const item of (token as Tokens.List).items)
        releases.at(-1)?.changes.push({ heading, text: item.text.replace(/\s*\n\s*/g, ' ').trim() })
  }
  return releases
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

/** Renders the changelog as a page. The text comes from this repository, so its HTML needs no sanitizing. */
const htmlOf = (markdown: string): string =>
  renderPage({
    title: 'Changelog',
    body: html`<main class="text">${new Html(parser(lexer(markdown)))}</main>`,
  })

const bodies = { 'text/html': htmlOf, 'application/json': jsonOf, 'text/markdown': (text: string) => text }
const types = Object.keys(bodies) as Type[]
type Type = keyof typeof bodies
