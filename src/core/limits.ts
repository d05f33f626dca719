// Every limit of the tool with its reason. Units are last in the names. Those that a user may change are defaults of
// settings in project/settings.ts.

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  /** A model file larger than this is no SQL that a person wrote. */
  modelFileBytes: 4 * MiB,
  configFileBytes: 1 * MiB,

  /** Row E074. One event is one line that the engine reads whole; it refuses lines above 16 MiB. */
  eventBytes: 1 * MiB,
  batchBytes: 32 * MiB,
  /** Deeper JSON is no event; the engine's reader recurses. */
  eventDepth: 100,
  /** A segment is sealed at this size, so that one claim is one bounded transaction. */
  segmentBytes: 64 * MiB,
  /** Bytes that wait for the disk; above it ingest answers 503, so that memory stays bounded. */
  pendingBytes: 64 * MiB,
  /** Bytes of accepted events on disk; above it ingest answers 503. */
  bufferBytes: 16 * GiB,
  /** Seconds a client is asked to wait by Retry-After. */
  retryAfterSeconds: 5,

  /** A URL longer than this is refused with 414; the longest that Power BI was seen to send is 8 KiB. */
  urlBytes: 100 * KiB,
  headerBytes: 128 * KiB,
  /** A client that sends slower than this is cut off. */
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  connections: 4096,
  /** Time that open requests get to finish when a server stops. */
  shutdownMs: 10_000,

  /** Rows of a page without $top or maxpagesize (row Q126). */
  pageRows: 10_000,
  /** Requests in one $batch (row Q127). */
  batchRequests: 100,
  batchBodyBytes: 4 * MiB,
  /** Nesting of parentheses and calls in an OData expression; deeper ones are answered 400. */
  expressionDepth: 200,
  /** Characters of one query option; bounds the time of the parser. */
  expressionLength: 65_536,
  /** Time of one OData request in the engine (row Q128). */
  queryTimeoutMs: 30_000,
  /** Queries that run at once, and requests that wait for one of them, before 503. */
  runningQueries: 16,
  waitingQueries: 512,
  /** Snapshots that are no longer current stay readable for next links until this many newer ones exist. */
  retainedSnapshots: 3,
  retainedSnapshotMs: 600_000,

  /** A run waits this long for the lock of another run (`--wait`). */
  runLockWaitMs: 30_000,
  /** A daemon that does not answer its admin port in this time is taken for hung. */
  adminTimeoutMs: 30_000,
  /** A daemon that does not accept a connection in this time is taken for absent. */
  adminConnectTimeoutMs: 2_000,
} as const
