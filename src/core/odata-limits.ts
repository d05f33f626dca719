// The limits of the OData service and its answers, each with its reason; everywhere known as `limits`.

import { GiB, KiB, MiB } from './byte-sizes.ts'

export const odataLimits = {
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
  /** Levels of a tree that traverse sorts: the place of each node is a text of eight characters for each level. */
  treeLevels: 1000,
  /** Steps to other nodes of a hierarchy that are counted: each is one more step of DuckDB's recursion in a circle. */
  nodeDistance: 10_000,
  /** Levels of $expand, one inside the other. */
  expandDepth: 8,
  /**
   * Related rows that one level of $expand brings into one answer, and bytes of their texts: rows with rows inside are
   * made in memory, where they take several times what they hold.
   */
  expandedRows: 250_000,
  expandedTextBytes: 64 * MiB,
  /** Bytes of JSON that the rows of one level hold of levels inside of it, equal ones as often as they stand there. */
  nestedTextBytes: 128 * MiB,
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
  /**
   * Positions of a place in a URL, and collections within one another: the coarse border of a country has hundreds, and an
   * option has room for some 3,000 with three digits each. The reader of collections recurses.
   */
  geoPositions: 2_000,
  geoDepth: 10,
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
  /** Rows of a set from which on the threads of a second engine share its large queries. One thread reads so many in 10 ms. */
  sharedQueryRows: 1_000_000,
  /** Memory of the second engine, as a part of what the first one has. A query that needs more goes to that. */
  sharedQueryMemory: 0.1,
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
  /** Free connections of an engine that stay open: twice as many as running queries, since a slow client occupies an idle one. */
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
   * So many rows of a published set may have their changes written apart: readers of a set have so many more to look
   * through.
   */
  apartPercent: 2,
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
   * Two states that differ in more rows are compared by each page anew, since to keep these would take the disk of a whole
   * set; how many such pairs a service remembers.
   */
  comparedRows: 1_000_000,
  uncomparedPairs: 1000,
  /**
   * How much an engine may hold that stays open for followers who ask for the changes between the same states, and
   * how many stay.
   */
  keptComparisonBytes: 16 * MiB,
  keptComparisons: 4,
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
  /**
   * A file with the rows of a set as they are sent is made when about as much time was spent on lookups of the set as the
   * file takes: after so many, and one more for each so many rows. Fewer are never worth an engine of its own.
   */
  lookupsBeforeRowFile: 100,
  rowsPerLookupBeforeRowFile: 500,
  /** Files with rows that are there, their bytes, and the bytes of one. What was not used for longest makes room. */
  rowFiles: 16,
  /** Sets, for each filter of a token once more, of which it is known how often they are looked up. */
  rowFileUses: 10_000,
  rowFilesBytes: 1 * GiB,
  rowFileBytes: 512 * MiB,
  /** Rows of all these files together: each takes 18 to 24 bytes of memory, so all take 100 MB at most. */
  rowFileRows: 4_000_000,
  /** A longer row is left to the engine, which sends it in parts. */
  rowInFileBytes: 64 * KiB,
  /**
   * A row that is in the memory of the system is read in some microseconds. When two of so many reads have taken this long,
   * the disk was asked, and for a while DuckDB answers.
   */
  rowReadMs: 1,
  rowReadsInDoubt: 16,
  rowReadElsewhereMs: 1_000,
  /** Rows of one request that are looked up by their keys one after the other; the engine finds more of them at once. */
  lookupsOfRequest: 100,
  /** Forms of lookups whose answers differ by the key alone, of one snapshot. */
  lookupForms: 1_000,
  /** Places in which the key of a row is looked for; what is beyond them is left to the engine. */
  rowFileProbes: 64,
  /** Bytes of delta answers spooled on disk, of all clients together; above it 503. */
  spooledBytes: 4 * GiB,
  /** Files that were checked and found undamaged are not read again within this time. */
  damageLookMs: 60_000,
  /** A service polls the manifest this often where the file system reports no changes. */
  snapshotPollMs: 1_000,
  /** Results up to this size are computed whole before the first byte is sent, so that a failure has its status. */
  wholeResultRows: 10_000,
  /** Where a page needs more memory than there is, the next one that is tried has this part of its rows. */
  smallerPage: 16,
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
  /**
   * Of assistants. Rows and bytes of one answer, and of one description: 64 KiB are some 16,000 tokens, and clients cut
   * off or refuse what is above 25,000.
   */
  assistantRows: 500,
  assistantAnswerBytes: 64 * KiB,
  assistantDescriptionBytes: 32 * KiB,
  /** The list of sets has 4,000 tokens, which an assistant reads before its first question. */
  assistantListBytes: 16_000,
  /** One message of an assistant; it holds at most a request that a URL could hold. */
  assistantMessageBytes: 256 * KiB,
  /** Messages that one assistant may have under way; further ones wait in its pipe. */
  assistantMessages: 32,
  /** Resources on one page of their list. */
  assistantResources: 200,
  /** What programs draw of a set that nobody has told them more about: columns that fit on a screen, and fields above them. */
  listColumns: 12,
  filterFields: 6,
  /** Each is a list on the page of a row, and a request. */
  relatedLists: 8,
  /** An interrupt that met no running statement is sent again after this time. */
  interruptAgainMs: 20,
} as const
