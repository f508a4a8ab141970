/** Builds the app of this folder into `web/dist`, which the service serves under `/app`. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
    // Small files compress badly. What the first look at a board needs goes into one.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: firstLook }] } },
      // Without it, the parts of xyflow that nobody imports stay.
      treeshake: { manualPureFunctions: ['memo', 'forwardRef'] },
    },
  },
  plugins: [compressed()],
  // In development Vite serves the app, and hands everything else on to the service.
  server: {
    host: '127.0.0.1',
    strictPort: true,
    proxy: {
      ...Object.fromEntries(
        [
          '/api',
          '/oauth',
          '/.well-known',
          '/login',
          '/logout',
          '/settings',
          '/docs',
          '/icon.svg',
          '/app/csrf',
          '^/app/boards/[^/]+/(publish|cancel)$',
        ].map((at) => [at, service]),
      ),
      '/collab': { target: service, ws: true },
    },
  },
})

/** The lists of boards use it. They come later, but the index of the client names it. */
const live = path('../../client/editor/live.ts')

type ModuleInfo = (id: string) => { isEntry: boolean; importers: string[] } | null

function firstLook(id: string, context: { getModuleInfo: ModuleInfo }): string | null {
  return id !== live && isOfFirstLook(id, (one) => context.getModuleInfo(one)) ? 'first' : null
}

/** Whether the start of the app reaches a module without `import()`. */
function isOfFirstLook(id: string, infoOf: ModuleInfo, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false
  seen.add(id)
  const info = infoOf(id)
  return info !== null && (info.isEntry || info.importers.some((one) => isOfFirstLook(one, infoOf, seen)))
}

/** Writes a brotli and a gzip copy beside each file, so that no request compresses anything. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // Not earlier: Vite changes the files until they are written.
    async writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (name.endsWith('.woff2')) continue // they are compressed already
        const file = join(dir, name)
        const bytes = await readFile(file)
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, { params }))
        await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
      }
    },
  }
}
