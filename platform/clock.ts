/** The source of the current time. Components receive a clock, so that tests can move the time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
