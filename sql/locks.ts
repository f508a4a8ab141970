/**
 * The numbers of all advisory locks, in one place so that each number has one use. SQL functions repeat the numbers
 * that they use.
 *
 * `Database.lock` uses other numbers: 64 bits of the hash of a name.
 */
export const locks = {
  /**
   * The second key is a second of the clock. A transaction that stamps a change in this second takes the lock in shared
   * mode until its end. The change feeds read the holders of the lock (functions/feed.sql).
   */
  stamps: 1129270347,
  /** Lets one process at a time migrate the schema. */
  migration: 1129270348,
  /** Protects the tree of a workspace's boards (api/boards/structure.ts). The second key is the workspace's hash. */
  structure: 1129270349,
  /** Lets one process at a time take the events of editors' changes from the outbox. */
  pickUp: 1129270350,
  /** Lets one process at a time check that no account exists, and make the demo account. */
  demo: 1129270351,
  /** Protects the number of a workspace's active webhooks. The second key is the workspace's hash. */
  activeWebhooks: 1129270352,
  /** Held by each node for as long as it is alive (functions/nodes.sql). The second key is the number of its lock. */
  node: 1129270353,
  /** Protects the number of an owner's users with a live session (functions/sessions.sql). The second key is the owner's hash. */
  liveSessions: 1129270354,
  /** Protects the number of an account's live tokens (functions/sessions.sql). The second key is the account's hash. */
  liveTokens: 1129270355,
}
