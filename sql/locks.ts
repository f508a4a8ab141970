/**
 * Every advisory lock of the database by its number, so that no two are the same. Functions of the schema repeat the
 * numbers that they use.
 *
 * `Database.lock` takes others: its number is 64 bits of a name's hash.
 */
export const locks = {
  /**
   * With a second of the clock as the second key: transactions that stamp a change in this second share it until they
   * end. The change feeds read who holds it (functions/feed.sql).
   */
  stamps: 1129270347,
  /** Lets one process at a time bring the schema up to date. */
  migration: 1129270348,
  /** With a workspace's hash as the second key: protects what its boards are to each other (api/boards/structure.ts). */
  structure: 1129270349,
  /** Lets one process at a time take the events of editors' changes from the outbox. */
  pickUp: 1129270350,
  /** Lets one process at a time see whether there are no accounts, and make the demo. */
  demo: 1129270351,
  /** With a workspace's hash as the second key: protects the number of its active webhooks. */
  activeWebhooks: 1129270352,
}
