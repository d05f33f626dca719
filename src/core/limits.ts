// Every limit of the tool with its reason. Units are last in the names. Those that a user may change are defaults of
// settings in project/settings.ts.

import { GiB, KiB, MiB } from './byte-sizes.ts'
import { changeLimits } from './change-limits.ts'
import { exchangeLimits } from './exchange-limits.ts'
import { odataLimits } from './odata-limits.ts'
import { upkeepLimits } from './upkeep-limits.ts'

export const limits = {
  /** A model file larger than this was not written by a person. */
  modelFileBytes: 4 * MiB,
  configFileBytes: 1 * MiB,
  /** Files of boards/, and charts of one: each chart is a request or two when the page opens. */
  boards: 200,
  boardCharts: 30,
  /** A text of eider's own in .eider, or a fixture of a test: those of large projects have tens of MiB. */
  stateFileBytes: 512 * MiB,
  /** Groups and lists of eider.yml within one another. The parser recurses: 20,000 are the end of the process. */
  yamlDepth: 100,
  /** Each alias is looked for in the whole text: 10,000 of them took half a minute. */
  yamlAnchors: 1_000,
  /** Reading the files of a project again; beyond that something holds them, and a server keeps what it had. */
  reloadMs: 10_000,
  /** The same with its compile, which may read large files of data. */
  recompileMs: 120_000,
  /** What a server that stops gives to a reload that has begun. */
  reloadEndMs: 500,
  /** From the end of a command that was asked to stop to that of its process: its last output is written within it. */
  endAfterStopMs: 5_000,
  /**
   * Data files whose contents are compared to know that a saved compile still holds. Reading more of them takes longer
   * than recompiling.
   */
  comparedInputBytes: 64 * MiB,
  /** Rows of a CSV by which it is decided whether its dates can be read both ways: as many as DuckDB looks at itself. */
  csvSampledRows: 20_480,
  /** Tables that `eider init` makes of files that it finds: more are a heap that nobody reads one by one. */
  foundTables: 50,
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
  /**
   * Events of a batch. Each takes about 200 bytes and a microsecond while the batch is taken in, however short it is, and
   * 32 MiB of `{},` are eleven million. A full batch of events of 64 bytes still fits.
   */
  batchEvents: 500_000,
  /** Deeper JSON is not an event; DuckDB's reader recurses. */
  eventDepth: 100,
  /** Unknown names of fields of which the daemon remembers, for each model, whether they look like a column. */
  knownFieldNames: 1000,
  /** So many of these are found in an event as quickly as columns: each event looks at as many places. */
  otherFieldNames: 64,
  /** A sample leaves shorter tables whole: what is listed in them would join with almost nothing. */
  sampledFromRows: 1000,
  /** States of another target that a run finds gone while it attaches their files; one lives for minutes. */
  borrowTries: 5,
  /** Files that are saved together, or copied by a deployment, are one change when nothing follows for this time. */
  watchQuietMs: 200,
  /** The same for one text that an editor saves: what it saves together follows sooner. */
  watchQuietTextMs: 40,
  /** When a file that has changed is looked at once more: an editor may format what it has just saved. */
  watchTwiceMs: 60,
  /** How long a change may stay unseen that the system, or chokidar, does not tell of: a few hundred `stat` a second. */
  watchAgainMs: 2000,
  /** The pause between two looks at all files, by what a look takes: at most a fiftieth of a processor. */
  watchAgainPause: 50,
  /** Lines that `eider help search` shows: with more, nobody reads them one by one. */
  foundLines: 40,
  /** Between two keys of somebody who types on; nobody waits for a mistake to be underlined sooner. */
  editorQuietMs: 150,
  /** Rows that a test shows of those that are missing, and of those that are not expected. */
  shownTestRows: 10,
  /** A trace of a run is given up after this time: it delays the end of the process, and is worth no more. */
  traceTimeoutMs: 2000,
  /** Spans of a trace, about 600 bytes each; further ones are counted. */
  traceSpans: 5000,
  /** Rows that a recorded test takes of one table: more than anybody reads in a test. */
  recordedRows: 1000,
  /** Rows of a test that are compared one by one, for a tolerance or an order: more than anybody writes by hand. */
  comparedTestRows: 10_000,
  /** A watched file up to this size is compared with what it was, which takes a few milliseconds; models are far smaller. */
  comparedFileBytes: 4 * MiB,
  /** A request to the admin port names one claim. */
  adminBodyBytes: 64 * KiB,
  /** A segment is sealed at this size, so that one claim is one bounded transaction. */
  segmentBytes: 64 * MiB,
  /** A segment is checked in pieces of this size; the end of one that is no whole group is less. */
  segmentPieceBytes: 1 * MiB,
  /** Longest line of a segment that a flush reads: one event with its wrapping. DuckDB holds two per thread. */
  segmentLineBytes: 16 * MiB,
  /**
   * Segments join one transaction of a run until it has this size: enough that its fixed cost and the checkpoint before
   * the next one do not show, few to do again after a crash. The memory of a run grows with it, but little.
   */
  flushBytes: 192 * MiB,
  /** Memory of DuckDB's cache that stays between two large batches of a flush. */
  settledMemory: '64MiB',
  /** Acks that a run sends at a time: each is a connection to the daemon. */
  acksAtOnce: 64,
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
  /** How often a profile looks at the engine: each look is a query of some 0.3 ms. */
  profileEveryMs: 20,
  /** Age of a signed webhook: Stripe's own libraries take five minutes. More than a day would be no protection. */
  signatureToleranceMs: 300_000,
  longestToleranceMs: 86_400_000,
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
  /** Open files of a server beside its connections: a service with exports and two states of some sets has fifty. */
  reservedFiles: 128,
  /** With fewer open files a server does not begin: DuckDB ends the process when it cannot open one. */
  leastFiles: 256,
  /** A connection without traffic while an answer is computed or sent; longer than any answer may take. */
  socketIdleMs: 120_000,
  /** The rest of a rejected body that is read and dropped so that the connection can be reused. */
  drainBytes: 64 * KiB,
  /** Read and dropped, after the answer, from a client that keeps sending: closing earlier would lose the answer. */
  lingerBytes: 32 * MiB,
  lingerMs: 2_000,
  /** Processes that answer on one port: each has an engine of its own. */
  mostWorkers: 64,
  /**
   * All of them answer from a newer published state when each has it open; one that has not by then, while others have, is
   * started anew. Until then the earlier state is answered from.
   */
  workerOpensMs: 30_000,
  /** The same for the moment in which they turn to it, in which requests wait. */
  workerTurnsMs: 3_000,
  /** For its part of the metrics; what it has said before counts after that. */
  workerCountsMs: 1_000,
  /** Time that open requests get to finish when a server stops. */
  shutdownMs: 10_000,

  /** Threads of the daemon that read batches, and the smallest body for which handing it over pays. */
  batchReaders: 4,
  batchReaderBytes: 32 * KiB,
  /** Batches that a thread has at a time. What comes then is read by the thread of the daemon itself. */
  batchesOfReader: 16,
  /** Validators that a thread knows; models that change while the daemon runs leave old ones behind. */
  validatorsOfReader: 1_000,

  /** Of all requests that a process holds, in little memory less (http/body.ts); above it 503. Each may have its own limit. */
  bodiesBytes: 256 * MiB,

  ...odataLimits,
  ...exchangeLimits,
  ...upkeepLimits,
  ...changeLimits,

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
  /** The log of the warehouse is checked in pieces of this size. */
  readLogBytes: 1 * MiB,
  /** Blocks of a published file, DuckDB's default: many lookups at a time are no faster from smaller ones. */
  snapshotBlockBytes: 256 * KiB,
  /** Sorted rows of a published file lie in groups of this size: a page or a lookup reads one or two of them. */
  snapshotRowGroupRows: 16_384,
  /** A published file of fewer rows is written whole in less time than it takes to find what of it has changed. */
  apartFromRows: 100_000,
  /** Earlier files of which a published file has the changed keys: a client that follows changes comes more often. */
  continuedFiles: 100,
  /** Values of a column that say which rows have changed: with more, the statement that looks for them takes longer to read. */
  changedValues: 20_000,
  /** Openings of its buffer whose last segment is known of a target: a daemon that starts once a day has them in 3 years. */
  keptOpenings: 1_000,
  /** Runs that `eider history` knows: five weeks of a run every five minutes. */
  keptRuns: 10_000,
  /** Times at which a published state was current before it came back: of a state that comes and goes with every run. */
  earlierTimes: 200,
  /** Newest runs in which a result of a model is looked for, for each that is asked for; all are read if they lack some. */
  runsPerModelResult: 50,
  /** PostgreSQL cuts the name of a connection after these. */
  applicationNameBytes: 63,
  /** A small transaction in a lake that conflicts with those of others is tried so often, with a random time before each. */
  lakeTries: 20,
  lakeRetryMs: 50,
  /** An S3 store refuses requests of a clock that is further off. */
  lakeClockMs: 15 * 60_000,
  /** A request that an S3 store refuses is sent again for so long: stores ask for patience for seconds, and restart in some. */
  lakeRetrySeconds: 30,
  /** So often, at first at once, and each wait is twice as long: a store that refuses 40% lets through all but 1 in 1,500. */
  lakeRetries: 7,
  /** DuckDB gives up on a request after these, whole objects included, unless `lake.s3_retry_seconds` is longer. */
  lakeRequestSeconds: 30,
  /** `eider doctor` warns of a run on a lake that works for longer: half of the least `lake.keep_days`. */
  longLeaseMs: 12 * 60 * 60_000,
  /** A run that waits for another one on a lake looks this often whether it is to stop. */
  lakeLockSliceMs: 1000,
  /** A run that works longer than half of this may lose files that it is about to name, so no less than a day is allowed. */
  lakeKeptDays: 7,
  /** Runs that `eider history` knows while another run holds the warehouse; each is a file. */
  copiedRuns: 200,
  /** Runs with nothing to do that wait to be recorded; each costs the next one with something to do a little. */
  waitingRuns: 100,
  /**
   * A file that was changed less than this before a run may be changed again without another time on it. File systems that
   * count fractions of a second count on every 10 ms or more often; those that count whole seconds are told by their times.
   */
  racyMs: 100,
  /** Files of a pattern whose names and times tell that nothing has changed; more are left to the engine, at 3 us each. */
  stampedFiles: 20_000,
  /** Longer than the system takes to count on in the times of files. */
  clockTickMs: 20,
  /** Runs that the explorer shows: two days of a run every quarter of an hour, some 50 KB of the catalog. */
  catalogRuns: 200,
  /** Models of which a run of the past says why they failed, and how much of it: 300 KB where all runs fail in each. */
  catalogFailures: 5,
  catalogReasonCharacters: 300,
  /** Builds of each model in it: enough for a line to show a trend, half a megabyte of a thousand models. */
  catalogBuilds: 10,
  /** Reasons for which events were rejected: with more, nobody reads them one by one. */
  catalogReasons: 100,
  /** A catalog of a thousand models takes 2 MB. Above this, texts of models are left out, then lineage, then their columns. */
  catalogBytes: 32 * MiB,
  /** A query that a run waits for goes on this long: less than the run waits for it by default. */
  queryHoldsRunMs: 10_000,
  /** How often a query looks whether a run waits for it. */
  lookForRunMs: 500,
  /**
   * Log of the warehouse that runs with little work leave to be replayed, in runs of this size. Some twenty take less than
   * 5 ms to replay, of ten models or of a thousand; a checkpoint takes 4 ms and 40 ms.
   */
  leftLogRuns: 16,
  /** Little work is one model of so many: that takes 1 ms to replay, and a checkpoint 70 µs for each relation. */
  leftLogModels: 50,
  /** And no more rows in any of them: the engine writes more beside the log, and only a checkpoint frees what they replace. */
  leftLogRows: 100_000,

  /** Models that a run builds at a time (`--threads`); each has a connection, and DuckDB's threads are shared. */
  modelsAtOnce: 64,
  /**
   * Small models are built in one transaction: for so long further ones join it, and so long the first one waits for its
   * commit, which takes some 5 ms of sync and bookkeeping. What takes longer than the second time restarts in a
   * separate transaction.
   */
  groupMs: 120,
  groupHeldMs: 300,
  /**
   * The same on a lake, where a commit sends some 50 messages to PostgreSQL and all machines share ten a second. A commit
   * that another has overtaken sends its messages again, so two groups overlap only where one works at a model that takes
   * the first time.
   */
  lakeGroupMs: 5_000,
  lakeGroupHeldMs: 8_000,
  /** Further ones join for so many times as long as the last commit took, where that is longer, but no longer than the second. */
  lakeGroupCommits: 10,
  groupMostMs: 30_000,
  /** A server of a source that hangs must not hold up a run for long. */
  sourceConnectSeconds: 10,
  sourceStatementMs: 60_000,
  sourcePagesAtOnce: 131_072, // 1 GiB of a table of PostgreSQL: within the time of a statement
  /** What is left to a server to say itself that a statement took too long. */
  sourceGraceMs: 2_000,
  /** `--every`: more often would be a loop, and less often than a day is for cron. */
  shortestEveryMs: 100,
  longestEveryMs: 86_400_000,
  /** A `schedule` that is due more often would be a loop, and a late_after of more than a year was not meant. */
  shortestScheduleMs: 1_000,
  longestLateMs: 366 * 86_400_000,
  scheduledRuns: 100,
  /** A clock that is set back by less, as to agree with a server of time, makes no run due again. */
  clockSetBackMs: 60_000,
  /** The clock is looked at this often: it may be set, and a machine that slept has not counted the time. */
  lookAtClockMs: 5_000,
  /** Sets that promise how fresh they are: the least promise is a second. */
  lookAtSetsMs: 1_000,
  /** Counting all times that passed in a long sleep would take a while, and nobody asks for more. */
  countedMissedRuns: 10_000,
  /** A service that dies is started again after the first time, twice as late each time up to the second. */
  restartDelayMs: 1_000,
  longestRestartDelayMs: 60_000,
  /** So many deaths within this time are not bad luck, and the supervisor of `eider up` is to see that. */
  restartDeaths: 5,
  restartWindowMs: 60_000,
  /** A process that has ended may have left its output to another one, which is not waited for longer. */
  lastLinesMs: 1_000,
  /** Characters of a line of a child without an end. */
  childLineLength: 1 * MiB,
  /** A child of `eider up` that is told to stop and still lives after this is killed: a server takes up to shutdownMs. */
  childEndMs: 15_000,
  leftoverPollMs: 50,
  /** A webhook that does not answer, or says that it cannot, is tried again after these times: for about two minutes. */
  webhookTimeoutMs: 10_000,
  webhookRetryMs: [1_000, 5_000, 25_000, 60_000],
  notifyCommandMs: 30_000,
  /** Notifications that wait: more are old news. */
  waitingNotifications: 100,
  /** What is left of a notification when `eider up` stops. */
  lastNotificationMs: 2_000,
  /** Models, sets or tokens that a message names as readers of a set: a warehouse may have hundreds. */
  namedReaders: 10,
  /** Models that a notification names. */
  namedFailures: 10,
  /** Combinations of columns by which the rows of a table are looked for that are to be erased; each reads the table. */
  erasedWays: 16,
  /** Each piece of `--by` is a transaction, and more of them are a slip. */
  backfillPieces: 10_000,
  /** Warnings of single pieces that a run repeats. */
  shownPieceWarnings: 5,
  /** Ranges of periods that are read apart: each costs a statement, and above this all of them are read at once. */
  narrowedReads: 16,
  /** A lookback of more is a slip, and may lead to before the first date that the engine has. */
  lookbackYears: 100,
  lookbackNumber: 1e18,
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
  /** What `eider status` waits for a service to say how it is: less than health checks wait for it. */
  statusTimeoutMs: 3_000,
  /** What `eider doctor` waits for a port to answer, and the free space below which it warns. */
  doctorTimeoutMs: 1_000,
  lowDiskBytes: 1 * GiB,
  /** A daemon that has the buffer and does not listen is starting or stopping; a run waits this long for it. */
  daemonWaitMs: 5_000,
  /** A daemon that does not answer its admin port in this time counts as hung. */
  adminTimeoutMs: 30_000,
} as const
