/**
 * Serves the app of `web/` under `/app`. Vite has built it into `web/dist`, with compressed copies beside each file. The
 * files are read once, when the service starts.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { matches } from '../../api/files/byte-range.ts'
import { html } from '../../api/sign-in/html.ts'
import { sendPage } from '../../api/sign-in/page.ts'

export const appPath = '/app/'
const built = new URL('../../web/dist/', import.meta.url)

export const notBuilt =
  'The app is not built. Run npm ci with the development dependencies, or npm run web:build, and start again.'

/** @param bucket origin to which browsers send the parts of uploads, when it is not the service itself */
const contentSecurityPolicy = (bucket: string | null) =>
  [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `font-src 'self'`,
    // Files of the service by signed URLs. `blob:`: a file of this device, before it is uploaded.
    `img-src 'self' blob:`,
    `media-src 'self' blob:`,
    bucket === null ? `connect-src 'self'` : `connect-src 'self' ${bucket}`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ')

const headersWith = (bucket: string | null) => ({
  'content-security-policy': contentSecurityPolicy(bucket),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
})
type Headers = ReturnType<typeof headersWith>

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
  /** The licences of the packages in the app. */
  md: 'text/markdown; charset=utf-8',
}
/** The names of these files contain a hash of what is in them. */
const forever = 'public, max-age=31536000, immutable'
/** The best first. */
const encodings = { br: '.br', gzip: '.gz', identity: '' } as const
type Encoding = keyof typeof encodings

interface BuiltFile {
  type: string
  etag: string
  bodies: Partial<Record<Encoding, Buffer>>
}

interface WebAppOptions {
  folder?: URL | undefined
  /** Origin of the store to which browsers send the parts of uploads. Null: the service itself. */
  bucket: string | null
}

/** @returns whether the app is built. If not, its pages say so */
export async function registerWebApp(
  app: FastifyInstance,
  { folder = built, bucket }: WebAppOptions,
): Promise<boolean> {
  const files = await readBuilt(folder)
  const headers = headersWith(bucket)
  const page = files.get('index.html')
  const hidden = { schema: { hide: true } as object }
  const showPage = (request: FastifyRequest, reply: FastifyReply) =>
    page
      ? send(page, { ...headers, 'cache-control': 'no-cache' }, request, reply)
      : sendPage(reply, missing, 503)
  for (const path of ['/app', '/app/boards/:id', '/app/workspaces/:id/settings', '/app/open'])
    app.get(path, hidden, showPage)
  // The end of a sign-in. The app reads the code from the address of this answer.
  app.get('/app/signed-in', hidden, (_request, reply) =>
    reply.headers(headers).header('cache-control', 'no-store').code(204).send(),
  )
  for (const [path, file] of files)
    if (file !== page)
      app.get(`/app/${path}`, hidden, (request, reply) =>
        send(
          file,
          { ...headers, 'cache-control': path.startsWith('assets/') ? forever : 'no-cache' },
          request,
          reply,
        ),
      )
  return page !== undefined
}

async function readBuilt(folder: URL): Promise<Map<string, BuiltFile>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => [])
  const files = paths.filter((path) => Object.hasOwn(types, extensionOf(path)))
  return new Map(
    await Promise.all(files.map(async (path) => [path, await readOne(folder, path, paths)] as const)),
  )
}

async function readOne(folder: URL, path: string, paths: string[]): Promise<BuiltFile> {
  const bodies: BuiltFile['bodies'] = {}
  for (const [encoding, suffix] of Object.entries(encodings))
    if (paths.includes(path + suffix))
      bodies[encoding as Encoding] = await readFile(new URL(path + suffix, folder))
  const hash = createHash('sha256').update(bodies.identity!).digest('base64url')
  return { type: types[extensionOf(path)]!, etag: `"${hash.slice(0, 27)}"`, bodies }
}

const extensionOf = (path: string) => path.slice(path.lastIndexOf('.') + 1)

function send(
  { type, etag, bodies }: BuiltFile,
  headers: Headers & { 'cache-control': string },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply
    .headers({ ...headers, etag })
    .removeHeader('access-control-allow-origin')
    .removeHeader('access-control-expose-headers')
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const accepted = new Set(new Negotiator(request.raw).encodings(Object.keys(encodings)))
  const encoding = (Object.keys(encodings) as Encoding[]).find((one) => accepted.has(one) && bodies[one])
  if (encoding !== undefined && encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(type).send(bodies[encoding ?? 'identity'])
}

const missing = {
  title: 'The app is not built',
  body: html`<main class="text">
    <h1>The app is not built</h1>
    <p>${notBuilt}</p>
  </main>`,
}
