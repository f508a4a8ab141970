/** Builds the app of this folder into `web/dist`, which the service serves under `/app`. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const service = process.env['SERVICE'] ?? 'http://127.0.0.1:4000'
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export default defineConfig({
  root: path('..'),
  base: '/app/',
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: path('../dist'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
  },
  plugins: [compressed()],
  // In development Vite serves the app, and hands everything else on to the service.
  server: {
    host: '127.0.0.1',
    strictPort: true,
    proxy: {
      ...Object.fromEntries(
        ['/api', '/oauth', '/.well-known', '/login', '/logout', '/settings', '/docs', '/icon.svg'].map(
          (at) => [at, service],
        ),
      ),
      '/collab': { target: service, ws: true },
    },
  },
})

/** Writes a brotli and a gzip copy beside each file, so that no request compresses anything. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    enforce: 'post',
    async generateBundle(_options, bundle) {
      const files = Object.values(bundle).map((file) => ({
        name: file.fileName,
        bytes: Buffer.from(file.type === 'chunk' ? file.code : file.source),
      }))
      for (const { name, bytes } of files) {
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        const copies = {
          br: await promisify(brotliCompress)(bytes, { params }),
          gz: await promisify(gzip)(bytes, { level: 9 }),
        }
        for (const [suffix, source] of Object.entries(copies))
          this.emitFile({ type: 'asset', fileName: `${name}.${suffix}`, source })
      }
    },
  }
}
