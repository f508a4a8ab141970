import postgres from 'postgres'

/**
 * The driver, patched: as published it crashes the process, or leaves callers hanging, when a connection is lost
 * (porsager/postgres #1208). It also hands out the connection that was used last, whose server process has its plans and
 * caches warm; as published they take turns. npm applies `patches/` in its install script.
 */
export default requirePatched(postgres)

/** Throws when npm installed the driver without its patch. */
export function requirePatched<T extends object>(driver: T): T {
  if ('survivesLostConnections' in driver) return driver
  throw new Error(
    'The PostgreSQL driver lacks its patch, because npm installed it without install scripts: run `npx patch-package`.',
  )
}
