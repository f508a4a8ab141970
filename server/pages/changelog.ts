/** `/changelog`, outside the API root: CHANGELOG.md for people (HTML) and for programs (JSON, Markdown). */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lexer, parser, type Token, type Tokens } from 'marked'
import Negotiator from 'negotiator'
import { matches } from '../../api/files/byte-range.ts'
import { contentSecurityPolicy } from './security.ts'

const file = new URL('../../CHANGELOG.md', import.meta.url)

export interface Release {
  /** `Unreleased`, or a version. */
  version: string
  /** `YYYY-MM-DD`. */
  date: string | null
  /** Markdown, one for each entry, with the heading that it stands under if there is one. */
  changes: { heading: string | null; text: string }[]
}

interface Representation {
  type: string
  body: string
  etag: string
  policy: string
}

export async function registerChangelog(app: FastifyInstance): Promise<void> {
  const markdown = await readFile(file, 'utf8')
  const shown = {
    'text/html': represent('text/html', htmlOf(markdown)),
    'application/json': represent('application/json', jsonOf(markdown)),
    'text/markdown': represent('text/markdown', markdown),
  }
  const types = Object.keys(shown) as (keyof typeof shown)[]
  const hidden = { schema: { hide: true } as object }

  app.get('/changelog', hidden, (request, reply) => {
    reply.header('vary', 'accept')
    reply.header(
      'link',
      '</changelog.md>; rel="alternate"; type="text/markdown", </changelog.json>; rel="alternate"; type="application/json"',
    )
    // Who takes none of them gets the page.
    const [type = 'text/html'] = new Negotiator(request.raw).mediaTypes(types)
    return answer(shown[type as keyof typeof shown], request, reply)
  })
  app.get('/changelog.md', hidden, (request, reply) => answer(shown['text/markdown'], request, reply))
  app.get('/changelog.json', hidden, (request, reply) => answer(shown['application/json'], request, reply))
}

/** It changes with a new version only, but then at once: caches ask again after some minutes. */
function answer(shown: Representation, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    'cache-control': 'public, max-age=300',
    etag: shown.etag,
    'x-content-type-options': 'nosniff',
    'content-security-policy': shown.policy,
  })
  if (matches(request.headers['if-none-match'], shown.etag)) return reply.code(304).send()
  return reply.header('content-type', shown.type).send(shown.body)
}

function represent(type: string, body: string): Representation {
  const [, style] = /<style>([^]*)<\/style>/.exec(body) ?? []
  return {
    type: `${type}; charset=utf-8`,
    body,
    etag: `"${sha256(body, 'base64url').slice(0, 27)}"`,
    policy: contentSecurityPolicy(
      style === undefined ? {} : { style: `'sha256-${sha256(style, 'base64')}'` },
    ),
  }
}

const sha256 = (text: string, encoding: 'base64' | 'base64url') =>
  createHash('sha256').update(text).digest(encoding)

const jsonOf = (markdown: string) => `${JSON.stringify({ releases: readReleases(markdown) }, null, 2)}\n`

/** `## 1.2.0 – 2026-11-21`, below it `### Added` where there are such headings, and lists. */
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

const style =
  'body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;color:#222;background:#fff}' +
  'code{font-size:.9em;background:#f2f2f2;padding:.1em .3em;border-radius:3px}li{margin:.4rem 0}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#2b2b2b}a{color:#8ab4f8}}'

/** The text is the project's own; there is no HTML in it to be cleaned. */
const htmlOf = (markdown: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corkboard: changelog</title>
<link rel="alternate" type="text/markdown" href="/changelog.md">
<link rel="alternate" type="application/json" href="/changelog.json">
<style>${style}</style>
</head>
<body>
${parser(lexer(markdown))}</body>
</html>
`
