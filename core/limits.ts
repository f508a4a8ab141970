/** Limits that are part of the API contract. Limits that an operator may set are in the configuration. */
export const limits = {
  /** Largest rate limit of a token, unless the operator sets another. */
  maxRateLimitPerHour: 100_000,
  boardName: 200,
  dayLabel: 200,
  name: 200,
  cardsPerRequest: 1000,
  boardsPerRequest: 500,
  treeDepth: { default: 10, max: 20 },
  /** Most boards of a tree in one answer. A client must request a larger tree in parts. */
  treeBoards: 50_000,
  /** Most cards that one request changes without naming them. It is one commit, and all other commits wait for it. */
  cardsPerCommit: 20_000,
  /** Most bytes of shared types in the cards that one request moves to another board. */
  movedBytes: 32 * 1024 * 1024,
  pageSize: { default: 100, max: 500 },
  jsonBodyBytes: 1024 * 1024,
  cardBatchBodyBytes: 64 * 1024 * 1024,
  /** Limits of a JSON body, besides its size in bytes. The body's lists are the lists that are fields of the body. */
  json: {
    depth: 500,
    /** Values in the whole body. */
    values: 2_000_000,
    /** Values in one entry of a list, and values outside the body's lists. */
    entryValues: 50_000,
    /** Entries of a list. */
    entries: 10_000,
    /** Bytes of one entry of a list, and bytes outside the body's lists. */
    entryBytes: 2 * 1024 * 1024,
  },
  /** Limits for bodies over `fromBytes`: their bytes in memory at once, and the wait of a request for its turn. */
  largeBodies: {
    fromBytes: 1024 * 1024,
    bytes: 128 * 1024 * 1024,
    bytesPerAccount: 64 * 1024 * 1024,
    waiting: 200,
    waitingPerAccount: 8,
    waitMs: 30_000,
    /** Time for the body to arrive after the request got its turn. */
    arriveMs: 120_000,
  },
  coordinate: 1_000_000,
  /** For how long an API client is shown on a board, and the size of what it tells about itself. */
  presenceSeconds: 300,
  presenceStateBytes: 4 * 1024,
  cardSize: { min: 40, max: 4000, defaultW: 280, defaultH: 180 },
  /** Registrations and fetches of client metadata documents are limited per address. */
  oauth: { registrationsPerHour: 60, documentsPerHour: 120, idleClientDays: 90 },
  /** A larger `z` from an editor is clamped to this value, so that `top + 1` stays a different number. */
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
    /** Most matches of the gram index that are ranked. */
    candidates: 2000,
    /** If there are more, matches among this many newest cards are ranked, too: five times `candidates` (search.sql). */
    newestCards: 10_000,
    /** Time limit for the statement, and for the wait before it. */
    timeoutMs: 5000,
    /**
     * How long a search waits until new words are indexed. `own`: in the account's own workspaces; `others`: elsewhere.
     */
    catchUpMs: { own: 5000, others: 1000 },
  },
  versionsPerBoard: 1000,
  trashDays: 30,
  notificationDays: 90,
  /** Most notifications that one request marks as read by `ids`, and by `before`. */
  markedRead: { byIds: 500, byTime: 10_000 },
  /** Most cards that the payload of an event names. */
  eventCardIds: 25,
  /** `GET /events`: for how long a stream can be resumed, and bounds of each process. */
  eventStreams: { days: 7, perAccount: 20, total: 5000, stalledMs: 30_000, keepAliveMs: 15_000 },
  webhooks: {
    activePerWorkspace: 20,
    attempts: 6,
    attemptMs: 10_000,
    failuresInARow: 20,
    deliveryDays: 30,
    url: 2000,
    previousSecretMs: 24 * 60 * 60 * 1000,
  },
  /** Token look-ups per hour for an address over its limit. Tokens found valid in the last hour do not count. */
  lookUpsPastLimitPerHour: 100,
  idempotency: {
    key: 255,
    rememberMs: 24 * 60 * 60 * 1000,
    /** Larger answers are not stored. A replay computes them again. */
    answerCharacters: 4 * 1024 * 1024,
  },
  files: {
    uploadBytes: 25 * 1024 * 1024,
    /** Bytes of an image that are read to find its size. */
    headerBytes: 512 * 1024,
    minPartBytes: 8 * 1024 * 1024,
    parts: 10_000,
    partsPerRequest: 1000,
    partUrlSeconds: 60 * 60,
    sessionMs: 24 * 60 * 60 * 1000,
    /** Time limit of an upload in one request. */
    uploadMs: 15 * 60 * 1000,
    fileName: 300,
    /** Images with more pixels are stored, but not resized. */
    resizePixels: 50_000_000,
    resizeBytes: 64 * 1024 * 1024,
    urlsPerRequest: 500,
    /** Reads of files by signed URLs, from one address. */
    signedReadsPerHour: 20_000,
    /** How long browsers cache a file. */
    cacheSeconds: 86_400,
    reclaimDays: 30,
  },
  import: {
    items: 100,
    bodyBytes: 16 * 1024 * 1024,
    redirects: 5,
    /** Size limit of files that are not images. Images have the limit of uploads. */
    fileBytes: 100 * 1024 * 1024,
    /** Bytes that are read of a page. */
    pageBytes: 1024 * 1024,
    /** Bytes that are read to detect the type of a file. */
    sniffBytes: 64 * 1024,
    itemMs: 15_000,
    callMs: 60_000,
    /** Imports of one account at the same time. */
    atOnce: 8,
  },
  tokenLifetimeDays: 3650,
  /**
   * Guests of links. `perBoard`: links. `tokenHours`: the longest life of a guest's token. `linkShare`: how much of the
   * requests of all sessions and guests of an owner the guests of one link may use.
   */
  guests: { linkShare: 0.5, perBoard: 100, tokenHours: 12, name: 100, password: { min: 8, max: 200 } },
  /** `perHour`: invitations that an account may make. */
  invitations: { days: 7, perHour: 20, email: 320 },
  /** Sessions that are minted for the users of other products. Limits by tier are those of the workspace's owner. */
  sessions: {
    userId: 200,
    boards: 50,
    ttlSeconds: { min: 60, max: 86_400, default: 3600 },
    /** Users with a live session. */
    live: { free: 1000, pro: 100_000 },
    /** Requests of all sessions in an hour, with those of the guests of links. */
    requestsPerHour: { free: 20_000, pro: 2_000_000 },
    /** A user without a session for so long sees no earlier history at the next one. */
    historyDays: 30,
    /** How much of what an account may have, such as sockets, one user may have. */
    userShare: 0.1,
  },
  signIn: {
    /** Number of characters. */
    password: { min: 12, max: 1000 },
    session: { idleDays: 14, days: 90 },
    linkHours: { default: 24, max: 168 },
    /** Size limit of a form. */
    formBytes: 64 * 1024,
  },
} as const

/** A quota for each tier of accounts. */
export interface BytesByTier {
  free: number
  pro: number
}

/** For how many days history is kept, for each tier of accounts. */
export interface DaysByTier {
  free: number
  pro: number
}

/** Boards in the trash, removed cards and tombstones are purged when they were deleted before this time. */
export const trashCutoff = (nowMs: number) => new Date(nowMs - limits.trashDays * dayMs)

/** Notifications from before this time are deleted. */
export const notificationCutoff = (nowMs: number) => new Date(nowMs - limits.notificationDays * dayMs)

/** What boards were before this time is not kept. */
export const historyCutoff = (nowMs: number, days: number) => new Date(nowMs - days * dayMs)

/** Audit entries from before this time are deleted. */
export const auditCutoff = (nowMs: number, days: number) => new Date(nowMs - days * dayMs)

/** Idempotency keys from before this time are deleted. */
export const idempotencyCutoff = (nowMs: number) => new Date(nowMs - limits.idempotency.rememberMs)

const dayMs = 86_400_000
