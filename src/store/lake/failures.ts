// What the engine says of a lake that it cannot reach, open or write, in plain words that name the setting to change.

import { EnvironmentError } from '../../core/failures.ts'
import { describeLake, type LakeTarget } from '../../core/lake.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { damageOf } from './damage.ts'
import { explainStore } from './store-answers.ts'

/** No run has made the lake yet. */
export const isMissing = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  /^Existing DuckLake at metadata catalog .* does not exist/s.test(error.details.message)

/** A state of the lake that was removed meanwhile. */
export const isGone = (error: unknown): boolean =>
  error instanceof DatabaseError && /No snapshot found at version/.test(error.details.message)

interface Case {
  readonly code: string
  readonly when: RegExp
  readonly says: (lake: LakeTarget, words: string) => string
  readonly hint: (lake: LakeTarget, words: string) => string
}

/** What the catalog has, and what DuckLake needs. */
const versionsIn = (words: string): readonly string[] =>
  /catalog version is (\S+), but the extension requires version ([^\s.]+(?:\.\d+)*)/
    .exec(words)
    ?.slice(1) ?? []

const UNREACHABLE_HINT =
  'check lake.catalog and whether the server runs; nothing was lost, run again when it does'

// The first that fits.
const cases: readonly Case[] = [
  {
    code: 'lake-refused',
    when: /password authentication failed|no password supplied|role "[^"]*" does not exist|no pg_hba\.conf entry/,
    says: (lake) => `PostgreSQL refuses ${lake.catalog.user}: ${describeLake(lake)}`,
    hint: () => 'check the user of lake.catalog, and LAKE_PASSWORD',
  },
  {
    code: 'lake-refused',
    when: /database "[^"]*" does not exist/,
    says: (lake) => `PostgreSQL has no such database: ${describeLake(lake)}`,
    hint: (lake) => `check lake.catalog, or make it: createdb ${lake.catalog.database}`,
  },
  {
    code: 'lake-refused',
    when: /permission denied|must be owner of/,
    says: (lake, words) => `${lake.catalog.user} lacks a right in PostgreSQL: ${words}`,
    hint: (lake) => `grant it on the schema ${lake.schema}`,
  },
  {
    code: 'lake-version',
    when: /DuckLake catalog version mismatch|Only DuckLake versions .* are supported/,
    says: (_, words) => {
      const [has, needs] = versionsIn(words)
      return needs === undefined
        ? 'the catalog of the lake is of a later version than this eider knows'
        : `the catalog of the lake has version ${has}, and this eider works with ${needs}`
    },
    hint: (_, words) => {
      const [has, needs] = versionsIn(words)
      const isOlder = needs !== undefined && has!.localeCompare(needs, 'en', { numeric: true }) < 0
      return isOlder
        ? 'eider maintain --migrate brings it up to date; all machines need one version of eider'
        : 'install the version of eider that the other machines have'
    },
  },
  {
    code: 'lake-moved',
    when: /does not match existing data path in the catalog/,
    says: (lake, words) =>
      `the rows of this lake are in ${/catalog "([^"]*)"/.exec(words)?.[1] ?? 'another place'}, and lake.data is ${lake.store.data}`,
    hint: () =>
      'set lake.data to the place that the first run has written, or lake.schema to a new lake',
  },
  {
    code: 'lake-plain',
    when: /database is not encrypted but we requested an encrypted database/,
    says: (lake) => `this lake was made without encryption: ${describeLake(lake)}`,
    hint: () => 'remove lake.encrypted, or move the tables into a new lake that has it: eider move',
  },
  {
    code: 'lake-unreachable',
    when: /Unable to connect to Postgres|Failed to execute query \\?"ROLLBACK|from DuckLake: .*Current transaction is aborted|server closed the connection|no connection to the server|Connection refused|terminating connection|the database system is|could not (?:receive|send) data|SSL connection has been closed|too many clients|remaining connection slots/,
    says: (lake, words) =>
      `PostgreSQL does not answer, ${describeLake(lake)}: ${connectionWords(words)}`,
    hint: () => UNREACHABLE_HINT,
  },
  {
    code: 'lake-unreachable',
    // DuckDB takes an answer that PostgreSQL has not finished for a whole one, and everything after that is refused.
    when: /(?:DuckLake|invalidated).*Attempted to access index \d+ within vector of size 0/s,
    says: (lake) => `the connection to PostgreSQL was lost, ${describeLake(lake)}`,
    hint: () => UNREACHABLE_HINT,
  },
]

/** An EnvironmentError for what the lake says; other errors as they are. */
export function explainLake(error: unknown, lake: LakeTarget): unknown {
  if (!(error instanceof DatabaseError)) return error
  const { message } = error.details
  const found = cases.find(({ when }) => when.test(message))
  if (found === undefined) return damageOf(error, lake) ?? explainStore(error, lake) ?? error
  const { code, says, hint } = found
  const words = reasonOf(message)
  return new EnvironmentError(code, says(lake, words), { hint: hint(lake, words), cause: error })
}

/** An error of DuckDB may hold another one, and that of PostgreSQL may have no words: the connection is gone. */
const innermost = (message: string): string =>
  /.*"exception_message":"(.*?)"?\}*$/s.exec(message)?.[1]?.replace(/: *$/, '') ?? message

const connectionWords = (words: string): string =>
  words === '' || words.startsWith('Current transaction is aborted')
    ? 'the connection was lost'
    : words

/** The words of PostgreSQL, which stand last, after the options of the connection. */
function reasonOf(message: string): string {
  const plain = message
    .replaceAll(String.raw`\"`, '"')
    .replaceAll(String.raw`\n`, '\n')
    .replace(/^.*Unable to connect to Postgres at ".*?": /s, '')
  const [, words] = /(?:failed: |ERROR: +|FATAL: +)(.*)/.exec(plain) ?? []
  const line = words ?? innermost(plain).split('\n')[0] ?? ''
  // The engine names the statement of its own that it was about to send.
  if (/^(?:Failed to (?:prepare|execute)|COPY )/.test(line))
    return /(?:server closed|no connection|could not|SSL connection)[^\n"]*/.exec(plain)?.[0] ?? ''
  return line.replace(/^(?:FATAL|ERROR): +/, '').replace(/"?\}+$/, '')
}
