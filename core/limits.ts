/** Bounds that are part of the contract. Bounds that an operator may set are in the configuration. */
export const limits = {
  boardName: 200,
  dayLabel: 200,
  name: 200,
  cardsPerRequest: 1000,
  boardsPerRequest: 500,
  treeDepth: { default: 10, max: 20 },
  /** A tree comes in one answer; with more boards than this it has to be asked for in parts. */
  treeBoards: 50_000,
  /** Cards that one request changes without naming them: it is one commit, which all others wait for. */
  cardsPerCommit: 20_000,
  /** Of the shared types of cards that one request moves to another board. */
  movedBytes: 32 * 1024 * 1024,
  pageSize: { default: 100, max: 500 },
  jsonBodyBytes: 1024 * 1024,
  cardBatchBodyBytes: 64 * 1024 * 1024,
  /** A JSON body, past its size in bytes. */
  json: {
    depth: 500,
    /** Values of the whole body; of one entry of a list, or of all that is outside the body's lists. */
    values: 2_000_000,
    entryValues: 50_000,
    /** Entries of a list that is a field of the body. */
    entries: 10_000,
    /** Bytes of one entry of such a list, or of all that is outside these lists. */
    entryBytes: 2 * 1024 * 1024,
  },
  /** Bodies over `fromBytes`: how many bytes of them are in memory at once, and how long a request waits for its turn. */
  largeBodies: {
    fromBytes: 1024 * 1024,
    bytes: 128 * 1024 * 1024,
    bytesPerAccount: 64 * 1024 * 1024,
    waiting: 200,
    waitingPerAccount: 8,
    waitMs: 30_000,
    /** For the body to arrive, once it has its turn. */
    arriveMs: 120_000,
  },
  coordinate: 1_000_000,
  cardSize: { min: 40, max: 4000, defaultW: 280, defaultH: 180 },
  /** Per address: clients that register themselves, and documents of clients that are fetched. */
  oauth: { registrationsPerHour: 60, documentsPerHour: 120, idleClientDays: 90 },
  /** Above this the editor's `z` is clamped, so that `top + 1` stays a different number. */
  z: 1_000_000_000_000,
  arrange: {
    gap: { min: 0, max: 1000 },
    width: { min: 100, max: 100_000 },
    rowHeight: { min: 40, max: 4000 },
    columns: { min: 1, max: 100 },
  },
  props: { bytes: 16 * 1024, depth: 5, key: 100 },
  identifiers: { perObject: 20, scope: 100, value: 500 },
  search: {
    query: { min: 2, max: 200 },
    excerpt: 300,
    /** Matches that are ranked, of those that the index of grams finds. */
    candidates: 2000,
    /** Time for the statement, and for the turn before it. */
    timeoutMs: 5000,
    /** A search waits so long for words that are not in the index yet: of the account's workspaces, and of others'. */
    catchUpMs: { own: 5000, others: 1000 },
  },
  trashDays: 30,
  notificationDays: 90,
  /** Of an event's cards its payload names so many. */
  eventCardIds: 25,
  webhooks: {
    activePerWorkspace: 20,
    attempts: 6,
    attemptMs: 10_000,
    failuresInARow: 20,
    deliveryDays: 30,
    url: 2000,
    previousSecretMs: 24 * 60 * 60 * 1000,
  },
  /** Of tokens that were not valid in the last hour, from an address that is over its limit. */
  lookUpsPastLimitPerHour: 100,
  idempotency: {
    key: 255,
    rememberMs: 24 * 60 * 60 * 1000,
    /** Larger answers are not kept: a replay makes them again. */
    answerCharacters: 4 * 1024 * 1024,
  },
  files: {
    uploadBytes: 25 * 1024 * 1024,
    /** So much of an image is looked at for its size. */
    headerBytes: 512 * 1024,
    minPartBytes: 8 * 1024 * 1024,
    parts: 10_000,
    partsPerRequest: 1000,
    partUrlSeconds: 60 * 60,
    sessionMs: 24 * 60 * 60 * 1000,
    /** An upload in one request takes no longer. */
    uploadMs: 15 * 60 * 1000,
    fileName: 300,
    /** Images of more pixels are stored, but not made smaller. */
    resizePixels: 50_000_000,
    resizeBytes: 64 * 1024 * 1024,
    reclaimDays: 30,
  },
  import: {
    items: 100,
    bodyBytes: 16 * 1024 * 1024,
    redirects: 5,
    /** Files that are not images; those have the limit of uploads. */
    fileBytes: 100 * 1024 * 1024,
    /** What is read of a page. */
    pageBytes: 1024 * 1024,
    /** What the type of a file is told by. */
    sniffBytes: 64 * 1024,
    itemMs: 15_000,
    callMs: 60_000,
    /** Of an account. */
    atOnce: 8,
  },
  tokenLifetimeDays: 3650,
  signIn: {
    /** Characters. */
    password: { min: 12, max: 1000 },
    session: { idleDays: 14, days: 90 },
    linkHours: { default: 24, max: 168 },
    /** Bytes of a form. */
    formBytes: 64 * 1024,
  },
} as const

/** A quota, by the tier of the account that it is for. */
export interface BytesByTier {
  free: number
  pro: number
}

/** What was deleted by then is purged: boards in the trash, removed cards, tombstones. */
export const trashCutoff = (nowMs: number) => new Date(nowMs - limits.trashDays * dayMs)

/** What an account was told by then is forgotten. */
export const notificationCutoff = (nowMs: number) => new Date(nowMs - limits.notificationDays * dayMs)

/** What was written and read by then is no longer told. */
export const auditCutoff = (nowMs: number, days: number) => new Date(nowMs - days * dayMs)

/** Keys from before then are forgotten. */
export const idempotencyCutoff = (nowMs: number) => new Date(nowMs - limits.idempotency.rememberMs)

const dayMs = 86_400_000
