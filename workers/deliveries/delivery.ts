/**
 * The states of a delivery: one row of `webhook_deliveries`, from the moment its event leaves the outbox.
 *
 *   waiting    due at `next_attempt_at`
 *   sending    claimed by a process, until `lease_until`
 *   succeeded  done; the row holds the attempt that succeeded
 *   given_up   done; `webhook_attempts` says why
 *
 *   from → to              by                                                        a row of webhook_attempts
 *   –       → sending      fan-out.ts: its webhook has room in this process          –
 *   –       → waiting      fan-out.ts: it has none; queue_delivery (SQL): a test     –
 *   waiting → sending      claim.ts, `claimDue`                                      –
 *   waiting → given_up     switch-off.ts: its webhook is off                         given_up
 *   sending → succeeded    record-outcomes.ts                                        –
 *   sending → waiting      record-outcomes.ts: it failed and has attempts left       failed
 *                          claim.ts, `giveBack`: it was not sent                     –
 *                          claim.ts, `takeBackLapsed`: the lease lapsed              failed
 *   sending → given_up     record-outcomes.ts: the last attempt failed               given_up
 *   any     → waiting      queue_again (SQL): a client asks for it                   the success, if there was one
 *
 * A claim, a lapsed lease and `queue_again` raise the row's `fence`. Only the process that has the current fence
 * may record the outcome or give the delivery back.
 *
 * In its process, a claimed delivery has a stage. `Deliverer` changes it, with one function for each transition:
 *
 *   from       → to          by             when
 *   claimed    → held        #accept        the fan-out or the claim has committed
 *   held       → underWay    #begin         its webhook, and this process, have a free slot
 *   held       → returning   #handBack      another attempt of the webhook failed or hangs, or the service stops
 *   underWay   → unrecorded  #succeeded     the next one need not wait for the record
 *   underWay   → over        #over          the failure is recorded: how the next ones go depends on it
 *   unrecorded → over        #recorded      the success is recorded, or its lease lapsed
 *   returning  → over        #giveBack      it is in the queue again
 */
export interface Transitions {
  claimed: 'held'
  held: 'underWay' | 'returning'
  underWay: 'unrecorded' | 'over'
  unrecorded: 'over'
  returning: 'over'
}
export type Stage = Exclude<keyof Transitions, 'claimed'>

export interface ClaimedDelivery {
  id: string
  webhookId: string
  event: string
  /** The exact bytes to send. */
  payload: Uint8Array
  /** Number of attempts that ended. */
  attempt: number
  fence: number
  /** Time at which it became due, milliseconds. */
  dueAt: number
  leaseUntil: number
  url: string
  /** Both secrets are encrypted. */
  secret: Uint8Array
  previousSecret: Uint8Array | null
  /** How many of the webhook's deliveries failed in a row before this one. */
  failuresInARow: number
  /** The trace of the request that caused the event. */
  trace: string | null
}

/** The result of an attempt. */
export interface Outcome {
  attemptedAt: number
  durationMs: number
  statusCode: number | null
  /** Null: it succeeded. */
  error: string | null
  /** The receiver's `Retry-After`, in milliseconds. */
  retryAfterMs: number | null
}

/**
 * How long no other process sends a claimed delivery. After a crash, the delivery waits for the end of its lease: at most
 * 60 s are promised. A lease must be long enough for an attempt of 10 s and the record of its outcome.
 */
export const leaseMs = 30_000
