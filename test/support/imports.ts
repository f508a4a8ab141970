/** Reads the imports of the project's files from their text. */
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'

export interface SourceFile {
  /** Path relative to the project's folder, with slashes. */
  path: string
  /** Package names, or paths of files relative to the project's folder. */
  imports: string[]
}

/**
 * Matches static, re-exporting, bare and dynamic imports, imports of types, and files that are named by URL, such as
 * workers.
 */
const forms = [
  /^\s*(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  /\bnew URL\(\s*['"](\.[^'"]+\.[jt]s)['"]\s*,\s*import\.meta\.url\s*\)/g,
]

export function importsIn(path: string, text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const named = forms.flatMap((form) => [...code.matchAll(form)].map(([, name = '']) => name))
  return named.map((name) =>
    name.startsWith('.') ? posix.join(dirname(path), name) : name.replace(/^((@[^/]+\/)?[^/]+).*$/, '$1'),
  )
}

export async function readSources(root: string, folders: string[]): Promise<SourceFile[]> {
  const paths = await Promise.all(folders.map((folder) => sourcesUnder(root, folder)))
  return Promise.all(
    paths
      .flat()
      .map(async (path) => ({ path, imports: importsIn(path, await readFile(join(root, path), 'utf8')) })),
  )
}

async function sourcesUnder(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && /\.[jt]sx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ''))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .sort()
}
