import postgres from 'postgres'

/**
 * The PostgreSQL driver with our patch. npm applies `patches/` in the install script. The patch changes six things:
 *
 * - When a connection is lost, the published driver crashes the process or leaves callers waiting (porsager/postgres
 *   #1208).
 * - The published driver uses its connections in turn. The patched one uses the last one again, because the server
 *   process behind it has warm plans and caches.
 * - The published driver waits for the answer to BEGIN. The patched one sends the first statements with it. If BEGIN failed
 *   alone, these would run outside of a transaction: there their role sees no rows.
 * - The published driver sends queries in an immediate. `write_soon` may send them earlier.
 * - A connection that listens also runs statements: pings, and what it sends itself.
 * - After a COPY to a slow reader, the published driver does not read the rest of the answer. Its connection hangs.
 */
export default requirePatched(postgres)

/** Throws when npm installed the driver without its patch. */
export function requirePatched<T extends object>(driver: T): T {
  if ('survivesLostConnections' in driver) return driver
  throw new Error(
    'The PostgreSQL driver lacks its patch, because npm ran no install scripts. Run `npx patch-package`.',
  )
}
