/** Bounds that are part of the contract. Bounds that an operator may set are in the configuration. */
export const limits = {
  boardName: 200,
  dayLabel: 200,
  name: 200,
  cardsPerRequest: 1000,
  pageSize: { default: 100, max: 500 },
  jsonBodyBytes: 1024 * 1024,
  cardBatchBodyBytes: 64 * 1024 * 1024,
  coordinate: 1_000_000,
  cardSize: { min: 40, max: 4000, defaultW: 280, defaultH: 180 },
  /** Above this the editor's `z` is clamped, so that `top + 1` stays a different number. */
  z: 1_000_000_000_000,
  props: { bytes: 16 * 1024, depth: 5, key: 100 },
  identifiers: { perObject: 20, scope: 100, value: 500 },
  /** `candidates`: matches that are ranked, of those that the index of grams finds. */
  search: { query: { min: 2, max: 200 }, excerpt: 300, candidates: 2000, timeoutMs: 5000, catchUpMs: 5000 },
  trashDays: 30,
  tokenLifetimeDays: 3650,
  rateLimitMax: 100_000,
} as const
