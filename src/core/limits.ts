// Every limit of the tool with its reason. Units are last in the names. Those that a user may change are defaults of
// settings in project/settings.ts.

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  /** A model file larger than this was not written by a person. */
  modelFileBytes: 4 * MiB,
  configFileBytes: 1 * MiB,
  /**
   * Data files whose contents are compared to know that a saved compile still holds. Reading more of them takes longer
   * than recompiling.
   */
  comparedInputBytes: 64 * MiB,
  /** A seed is scanned in pieces of this size; its header must lie in the first. */
  csvChunkBytes: MiB,
  /** A diagnostic shows this much of a line of a seed and cuts the rest. */
  csvExcerptBytes: 1024,
  /** Folders below models/; deeper ones are a loop of links. */
  folderDepth: 8,
  /** Columns of a terminal that a source line takes in a diagnostic; longer lines are cut around the place. */
  sourceLineColumns: 100,
  /** Characters of DuckDB's own words; some of its messages repeat the rest of the file. */
  problemLength: 300,
  /** Characters of the longest word that "did you mean" looks for; two such words take it 0.1 ms. */
  suggestionLength: 128,

  /** One event is one line that DuckDB reads whole; it refuses lines above 16 MiB. */
  eventBytes: 1 * MiB,
  /** What a user may set eventBytes to: as a line of a segment, with its wrapping, it must be below segmentLineBytes. */
  largestEventBytes: 15 * MiB,
  batchBytes: 32 * MiB,
  /** Deeper JSON is not an event; DuckDB's reader recurses. */
  eventDepth: 100,
  /** Unknown names of fields of which the daemon remembers, for each model, whether they look like a column. */
  knownFieldNames: 1000,
  /** Files that are saved together, or copied by a deployment, are one change when nothing follows for this time. */
  watchQuietMs: 200,
  /** Rows that a test shows of those that are missing, and of those that are not expected. */
  shownTestRows: 10,
  /** A watched file up to this size is compared with what it was, which takes a few milliseconds; models are far smaller. */
  comparedFileBytes: 4 * MiB,
  /** A request to the admin port names one claim. */
  adminBodyBytes: 64 * KiB,
  /** A segment is sealed at this size, so that one claim is one bounded transaction. */
  segmentBytes: 64 * MiB,
  /** Longest line of a segment that a flush reads: one event with its wrapping. DuckDB holds two per thread. */
  segmentLineBytes: 16 * MiB,
  /**
   * Segments join one transaction of a run until it has this size: enough that its fixed cost and the checkpoint before
   * the next one do not show, few to do again after a crash. The memory of a run grows with it, but little.
   */
  flushBytes: 192 * MiB,
  /** Memory of DuckDB's cache that stays between two large batches of a flush. */
  settledMemory: '64MiB',
  /** An engine with less in its cache is closed without emptying that before: it takes 4 ms. */
  closedCacheBytes: 32 * MiB,
  /** Bytes that wait for the disk; above it ingest answers 503, so that memory stays bounded. */
  pendingBytes: 64 * MiB,
  /** Memory that a target keeps for its next groups while they fill it; a larger group gets separate memory. */
  retainedGroupBytes: 8 * MiB,
  /** Bytes of accepted events on disk; above it ingest answers 503. */
  bufferBytes: 16 * GiB,
  /** Time for which the key of a request is remembered; a sender that tries again does so sooner. */
  keyRetentionHours: 24,
  /** Keys that each target remembers; each takes about 300 bytes of memory. */
  retainedKeys: 100_000,
  /** Characters of a key; a UUID has 36. */
  requestKeyLength: 255,
  /** Seconds a client is asked to wait by Retry-After. */
  retryAfterSeconds: 5,

  /** A URL longer than this is refused with 414; the longest that Power BI was seen to send is 8 KiB. */
  urlBytes: 100 * KiB,
  headerBytes: 128 * KiB,
  /** A client that sends slower than this is cut off. */
  requestTimeoutMs: 60_000,
  /** What the fast path of ingest accepts: a head as programs send, and a still incomplete request of a few packets. */
  frontHeadBytes: 4 * KiB,
  frontPartialBytes: 16 * KiB,
  /** A client that pipelines is not read from while this many of its answers are pending. */
  frontPipelinedRequests: 256,
  /** Requests of one connection handled before other connections are; a hundred such connections take 0.1 s. */
  frontRequestsInTurn: 16,
  /** Request heads that the fast path caches; a client sends one for each length of a body. */
  frontRoutes: 1_000,
  /** A request still partial after two sweeps is slow, and goes to node:http, which has the timeouts for it. */
  frontSweepMs: 1_000,
  /** Pipelined requests that wait on one connection; above it nothing more is read. */
  requestsInLine: 16,
  /** Pipelined requests of all connections, some kilobytes each; a connection that adds one more is closed. */
  requestsInLines: 20_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  connections: 4096,
  /** A connection without traffic while an answer is computed or sent; longer than any answer may take. */
  socketIdleMs: 120_000,
  /** The rest of a rejected body that is read and dropped so that the connection can be reused. */
  drainBytes: 64 * KiB,
  /** Read and dropped, after the answer, from a client that keeps sending: closing earlier would lose the answer. */
  lingerBytes: 32 * MiB,
  lingerMs: 2_000,
  /** Time that open requests get to finish when a server stops. */
  shutdownMs: 10_000,

  /** Bodies of all requests that a process holds; above it 503. Each connection may send one of up to its own limit. */
  bodiesBytes: 256 * MiB,

  /** Rows of a page without $top or maxpagesize. */
  pageRows: 10_000,
  /** Requests in one $batch. */
  batchRequests: 100,
  batchBodyBytes: 4 * MiB,
  /** Nesting of its JSON, brackets and commas of it, and headers of one part: JSON.parse takes a second for millions. */
  batchDepth: 20,
  batchMarks: 100_000,
  partHeaders: 200,
  /**
   * Nesting of parentheses, calls and operators in an OData expression; deeper ones are answered 400. The parser's
   * stack overflows at about 260 and DuckDB refuses 1,000, of which one level here makes several.
   */
  expressionDepth: 100,
  /**
   * Nodes of one expression in SQL, once names and aliases are expanded: a thousand comparisons of calculations have half
   * of it, and DuckDB reads all of it in about 100 ms. And levels of it: each makes up to four of DuckDB's.
   */
  expressionSize: 20_000,
  boundDepth: 200,
  /** Navigation properties followed in the expressions of one request; each is a join in DuckDB. */
  expressionRows: 50,
  /**
   * Sets with a key of the same name that columns of that name and each other lead to: n sets make n * (n - 1)
   * navigation properties, of which each set shows n - 1 that differ in their target alone.
   */
  setsOfOneKey: 16,
  /** Levels of $expand, one inside the other. */
  expandDepth: 8,
  /**
   * Related rows that one level of $expand brings into one answer, and bytes of their texts: rows with rows inside are
   * made in memory, where they take several times what they hold.
   */
  expandedRows: 250_000,
  expandedTextBytes: 64 * MiB,
  /** SELECTs that one $apply may mean, nested or side by side. DuckDB plans a hundred in some 50 ms. */
  applySize: 100,
  /**
   * Characters of one query option, by the grammar rule that reads it. The parser takes 3 us for each character of
   * ordinary text and up to 20 us where every character is a separate term: what is allowed here is read in about
   * 100 ms. A thousand comparisons fit into an expression.
   */
  optionLengths: {
    apply: 16_384,
    compute: 8_192,
    expand: 8_192,
    key: 8_192,
    orderby: 4_096,
    search: 16_384,
    select: 16_384,
    wholeExpression: 32_768,
  },
  /** Arithmetic operators and `not` in one query option: one for each of the thousand comparisons that fit into it. */
  calculations: 1_000,
  /**
   * Names followed by parentheses (functions, `case`, lambdas) in one query option: each is read and planned in up
   * to 0.25 ms, three times as long as a comparison.
   */
  calls: 250,
  /** Words and phrases of one search: each is a function of every string property. */
  searchTerms: 250,
  /** Constants of an `in` that DuckDB gets one by one; longer lists are passed as one value. */
  writtenItems: 100,
  /** Parsed options in the LRU cache; longer texts are seldom sent twice. */
  cachedOptions: 512,
  cachedOptionLength: 2_048,
  /** Time of one OData request in DuckDB. */
  queryTimeoutMs: 30_000,
  /** Admission control: queries that run at once, and requests that wait, before 503. */
  runningQueries: 16,
  waitingQueries: 512,
  /**
   * Of those that run, large ones: per processor, and at most. On two busy processors a lookup took 70 ms
   * alongside 8 of them; alongside 16, which left no slot, it waited for one to end.
   */
  largeQueriesPerProcessor: 4,
  largeQueries: 12,
  /**
   * Rows of a set times nodes of the expressions that look at each: a query with fewer is small. DuckDB takes a tenth
   * of a second for as many.
   */
  smallQueryWork: 10_000_000,
  /**
   * Streamed answers that are open at once, before 503. Each with rows of 400 bytes was measured to hold 11 MB
   * until its client has read it: all of them 1.4 GB.
   */
  openStreams: 128,
  /**
   * A client that reads nothing of its answer for so long is disconnected, since its answer occupies memory. Node
   * checks at this interval whether anything was read since the last check, so it may take twice as long.
   */
  stalledClientMs: 60_000,
  /** Pooled connections of an engine: twice as many as running queries, since a slow client occupies an idle one. */
  pooledConnections: 32,
  /** Parts of an answer computed ahead of the one being sent, and bytes written to a socket before it must drain. */
  partsAhead: 3,
  sendAheadBytes: 1 * MiB,
  /**
   * Bytes copied out of DuckDB before their memory is collected, which takes half a millisecond: below what makes the
   * collector go through the whole heap, above what a page of ordinary size has.
   */
  uncollectedBytes: 8 * MiB,
  /** A body below this fits into one packet as it is. */
  compressedBytes: 1_400,
  /** Memory of the answer cache, and its largest entry: a page of 10,000 rows has about 2 MiB. */
  cacheBytes: 64 * MiB,
  cachedAnswerBytes: 4 * MiB,
  /** The youngest snapshots that a run keeps on disk, for next links and delta links, and the time it keeps the others. */
  retainedSnapshots: 3,
  retainedSnapshotMinutes: 10,
  /**
   * Earlier snapshots that a service keeps open, and for how long; it reopens them when needed. Each
   * has the same share of the memory as the current one.
   */
  openEarlierSnapshots: 1,
  openEarlierSnapshotMs: 600_000,
  /** Delay after a new snapshot before the engines of earlier ones are closed and one for the next is created. */
  tidyAfterMs: 200,
  /**
   * Memory of an engine that compares two states of a set for delta links, what does not fit is spilled; and how many of
   * these there are at a time. A further one waits.
   */
  comparisonBytes: 512 * MiB,
  comparisons: 4,
  /**
   * Answers of which clients ask for parts, as readers of Parquet do, are files: one file, all that are there, and how
   * many. Those that nobody reads make room for others.
   */
  answerFileBytes: 2 * GiB,
  answerFilesBytes: 4 * GiB,
  answerFiles: 100,
  /** How many are made at a time, each in an engine with its own share of memory. A further one waits. */
  answerFileMakers: 2,
  /** How often the size of a file that is being made is looked at: at 300 MB/s it grows by 60 MB meanwhile. */
  answerFileLookMs: 200,
  /** A file whose rows depend on the time is another one after this: a reader takes it in several requests. */
  answerFileTimeMs: 60_000,
  /** How often files of earlier snapshots are looked for. */
  answerFileSweepMs: 30_000,
  /** Bytes of delta answers spooled on disk, of all clients together; above it 503. */
  spooledBytes: 4 * GiB,
  /** Files that were checked and found undamaged are not read again within this time. */
  damageLookMs: 60_000,
  /** A service polls the manifest this often where the file system reports no changes. */
  snapshotPollMs: 1_000,
  /** Results up to this size are computed whole before the first byte is sent, so that a failure has its status. */
  wholeResultRows: 10_000,
  /** Rows whose writing saves more than it takes longer to plan: 65 ns for each, and 150 us. */
  manyRows: 2_500,
  /**
   * Rows of a whole result that the main thread takes itself, which saves them a way through the thread pool: it copies
   * 100 KiB of each in 5 ms.
   */
  wholeResultRowsAtOnce: 128,
  /** Answers up to about this size are sent in one piece with their length. */
  wholeAnswerBytes: 256 * KiB,
  /** The largest page that a client can request (Prefer: maxpagesize). */
  largestPageRows: 1_000_000,
  /** Writing a long document yields to other requests after this time. */
  sliceMs: 5,
  /** A client that has closed its direction gets an answer that begins within this time. */
  halfClosedMs: 250,
  /** An interrupt that met no running statement is sent again after this time. */
  interruptAgainMs: 20,

  /** Key values that a message names when they are NULL or duplicate. */
  shownKeys: 3,
  /** Characters of a row that a failed check shows. */
  shownRowCharacters: 200,
  /** Rows of each sort (inserted, changed, removed) that `eider plan --diff` shows of a model: a screen holds some models. */
  plannedRows: 3,
  /** Reasons of rejection that a plan shows of an events model, those of most events first. */
  plannedReasons: 5,
  /**
   * Block size of a database file, fixed when it is created. Every table starts a new block: in the
   * 256 KiB that DuckDB would take, a checkpoint of many small tables takes twice as long and writes a file of four
   * times the size. In 16 KiB large tables grow, and a build of them takes more memory.
   */
  databaseBlockBytes: 64 * KiB,
  /** Blocks of a published file, DuckDB's default: many lookups at a time are no faster from smaller ones. */
  snapshotBlockBytes: 256 * KiB,
  /** Sorted rows of a published file lie in groups of this size: a page or a lookup reads one or two of them. */
  snapshotRowGroupRows: 8_192,
  /** Openings of its buffer whose last segment is known of a target: a daemon that starts once a day has them in 3 years. */
  keptOpenings: 1_000,
  /** Runs that `eider history` knows: five weeks of a run every five minutes. */
  keptRuns: 10_000,
  /** PostgreSQL cuts the name of a connection after these. */
  applicationNameBytes: 63,
  /** Of a small transaction in a lake that conflicts with those of others, with a random time before each. */
  lakeTries: 20,
  lakeRetryMs: 50,
  /** An S3 store refuses requests of a clock that is further off. */
  lakeClockMs: 15 * 60_000,
  /** A run that waits for another one on a lake looks this often whether it is to stop. */
  lakeLockSliceMs: 1000,
  /** A run that works longer than half of this may lose files that it is about to name, so no less than a day is allowed. */
  lakeKeptDays: 7,
  /** Runs that `eider history` knows while another run holds the warehouse; each is a file. */
  copiedRuns: 200,
  /** Runs that the explorer shows: two days of a run every quarter of an hour, some 50 KB of the catalog. */
  catalogRuns: 200,
  /** Builds of each model in it: enough for a line to show a trend, half a megabyte of a thousand models. */
  catalogBuilds: 10,
  /** Reasons for which events were rejected: with more, nobody reads them one by one. */
  catalogReasons: 100,
  /** Of a catalog: a thousand models take 2 MB. Above it texts of models are left out, then lineage, then their columns. */
  catalogBytes: 32 * MiB,
  /** A query that a run waits for goes on this long: less than the run waits for it by default. */
  queryHoldsRunMs: 10_000,
  /** How often a query looks whether a run waits for it. */
  lookForRunMs: 500,
  /**
   * Log of the warehouse that runs without work leave to be replayed, in runs of this size. Some twenty take less than
   * 5 ms to replay, of ten models or of a thousand; a checkpoint takes 4 ms and 40 ms.
   */
  leftLogRuns: 16,

  /** Models that a run builds at a time (`--threads`); each has a connection, and DuckDB's threads are shared. */
  modelsAtOnce: 64,
  /**
   * Small models are built in one transaction: for so long further ones join it, and so long the first one waits for its
   * commit, which takes some 5 ms of sync and bookkeeping. What takes longer than the second time restarts in a
   * separate transaction.
   */
  groupMs: 120,
  groupHeldMs: 300,
  /** A server of a source that hangs must not hold up a run for long. */
  sourceConnectSeconds: 10,
  sourceStatementMs: 60_000,
  /** What is left to a server to say itself that a statement took too long. */
  sourceGraceMs: 2_000,
  /** `--every`: more often would be a loop, and less often than a day is for cron. */
  shortestEveryMs: 100,
  longestEveryMs: 86_400_000,
  /** A run waits this long for the lock of another run (`--wait`). */
  runLockWaitMs: 30_000,
  /** A run that waits looks this often whether the lock is free: a person does not notice it, and a look reads one file. */
  runLockPollMs: 100,
  /**
   * A warehouse that another program has open is tried again after the first time, then twice as late each time up to the
   * second: many have it for a moment only, and each try makes an engine.
   */
  warehouseRetryMs: 50,
  longestWarehouseRetryMs: 1_000,
  /** A daemon that starts waits this long for a run that has the buffer open to take what is in it. */
  bufferLockWaitMs: 30_000,
  /** What `eider doctor` waits for a port to answer, and the free space below which it warns. */
  doctorTimeoutMs: 1_000,
  lowDiskBytes: 1 * GiB,
  /** A daemon that has the buffer and does not listen is starting or stopping; a run waits this long for it. */
  daemonWaitMs: 5_000,
  /** A daemon that does not answer its admin port in this time counts as hung. */
  adminTimeoutMs: 30_000,
} as const
