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
 * Whoever claims it gets a `fence`. Only its holder may change the row; `queue_again` and a lease that lapses end it.
 *
 * While a process has it, a claimed delivery has a stage. `Deliverer` changes it, with one function for each transition:
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
  /** Attempts that ended. */
  attempt: number
  fence: number
  /** Since when it was due, milliseconds. */
  dueAt: number
  leaseUntil: number
  url: string
  /** Both encrypted. */
  secret: Uint8Array
  previousSecret: Uint8Array | null
  /** Of the webhook's deliveries, before this one. */
  failuresInARow: number
}

/** What came of an attempt. */
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
 * Until then nobody else sends a claimed delivery. After a crash it waits that long: at most 60 s are promised. It has
 * to last for an attempt of 10 s and for writing down what came of it.
 */
export const leaseMs = 30_000
