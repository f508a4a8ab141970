/**
 * Loaded before anything else, by whatever Node the machine has: says in one line what an installation lacks, where
 * the first thing that misses it would die of a riddle. Plain JavaScript, since that Node may not take TypeScript.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import module from 'node:module'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'

const root = fileURLToPath(new URL('..', import.meta.url))
const reinstall = 'run `npm ci --ignore-scripts=false`'

const fault = missing(root)
if (fault) {
  process.stderr.write(`corkboard: ${fault}\n`)
  process.exit(1)
}

// Compiled code is kept beside the packages, for this process and its children: that takes a third off each start.
const { directory } = module.enableCompileCache(`${root}node_modules/.cache/compiled`)
if (directory) process.env['NODE_COMPILE_CACHE'] ??= directory

// Bodies go through buffers outside of V8's heap. By its own rule each 32 MB of them make it collect the whole heap.
v8.setFlagsFromString('--external-memory-accounted-in-global-limit')

/** @param {string} folder the project's */
function missing(folder) {
  if (!existsSync(`${folder}/node_modules/fastify`)) return 'The packages are not installed: run `npm ci`.'
  if (!process.features.typescript) {
    return (
      `This Node (${process.version}) can't run Corkboard, and the one that Corkboard brings is missing, ` +
      `because npm installed it without its install script: ${reinstall}.`
    )
  }
  const unpatched = patchedFiles(folder).find(
    ({ file, line }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(line),
  )
  return unpatched
    ? `${unpatched.file} lacks the correction that belongs to it, because npm ran no install scripts: ${reinstall}.`
    : null
}

/**
 * Each file that a patch changes, with the longest line that it adds: that is not in there by chance.
 * @param {string} folder
 */
function patchedFiles(folder) {
  const patches = `${folder}/patches`
  const names = existsSync(patches) ? readdirSync(patches).filter((name) => name.endsWith('.patch')) : []
  return names.flatMap((name) =>
    readFileSync(`${patches}/${name}`, 'utf8')
      .split(/^diff --git /m)
      .slice(1)
      .flatMap((part) => {
        const [, file] = /^\+\+\+ b\/(.+)$/m.exec(part) ?? []
        const added = [...part.matchAll(/^\+(?!\+\+ )(.+)$/gm)].map(([, line = '']) => line)
        const longest = added.sort((a, b) => b.length - a.length)[0]
        return file && longest ? [{ file: `${folder}/${file}`, line: longest }] : []
      }),
  )
}
