// Sources on database servers: attached for reading only, by way of a relay that ends a connection to a silent one.

import type { Explanation } from '../hints/engine-words.ts'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import type { ExternalSource, SourceServer } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import { type RelayProblem, ServerRelay } from '../../duckdb/server-relay.ts'
import { type NumberDialect, selectExactly } from './exact-numbers.ts'
import { missingTable } from './server-tables.ts'
import { attachedName, type SourceAccess, type ZeroedNumbers } from './source-access.ts'

export interface ServerDialect extends NumberDialect {
  /** The name that the engine has for the kind. */
  readonly type: Sql
  /** For all databases of the kind that the engine reads. */
  readonly settings: readonly Sql[]
  readonly secretParts: (server: SourceServer) => readonly Sql[]
  readonly attachText: (server: SourceServer) => string
  readonly zeroed?: ZeroedNumbers
  /** A name as statements of the server have it. */
  readonly quoted: (name: string) => string
  readonly tlsParameter: string
  /** It says that the password is wrong to who comes without TLS. */
  readonly hidesTls: boolean
  /** It ends a statement that takes longer than the timeout. */
  readonly endsStatements: boolean
}

export const LOCALHOST = '127.0.0.1'

/** A source whose server is to be asked. */
interface Asked {
  readonly dialect: ServerDialect
  readonly source: ExternalSource
  readonly server: SourceServer
  readonly relay: ServerRelay
}

export const serverAccess = (dialect: ServerDialect): SourceAccess => ({
  filesOf: ({ server }) => (server === null ? [] : null),
  ...(dialect.zeroed === undefined ? {} : { zeroed: { ...dialect.zeroed, query: dialect.query } }),
  explainRead: (message, source) =>
    source.server === null ? null : readProblem(message, dialect, source),
  explainMissing: async (connection, source, table, message) =>
    source.server === null
      ? null
      : missingOf(connection, { dialect, source, server: source.server }, table, message),
  async open(database, _dir, source) {
    const server = source.server!
    const asked = { dialect, source, server, relay: await openRelay(database, server) }
    return {
      attach: (connection) => attachServer(connection, asked),
      stamp: async () => null,
      select: (connection, table) => selectExactly(connection, dialect, source, table),
      explain: (message) => serverProblem(message, asked),
      explainTable: (connection, { name }, message) => missingOf(connection, asked, name, message),
      explainModel: (message) => cutOff(message, asked),
    }
  },
})

const missingOf = (
  connection: Connection,
  { dialect, source, server }: Omit<Asked, 'relay'>,
  table: string,
  message: string,
) => {
  const problem = `${server.shown} closed the connection while the table "${table}" was looked up`
  const lost = (said: string | null) =>
    said === null || isLost(said) ? { problem, hint: AGAIN } : null
  return missingTable(connection, { source, server, query: dialect.query, lost }, table, message)
}

/** Opens the way to a server; it is closed with the database. */
async function openRelay(database: Database, server: SourceServer): Promise<ServerRelay> {
  const { host, port, timeout } = server
  const relay = await ServerRelay.open({
    host,
    port,
    connectMs: limits.sourceConnectSeconds * 1_000,
    // The server is to say itself that a statement took too long, where it can.
    answerMs: timeout.ms + limits.sourceGraceMs,
  })
  database.defer(() => relay[Symbol.asyncDispose]())
  return relay
}

/** The password goes into a secret: errors repeat what is attached. */
async function attachServer(connection: Connection, asked: Asked): Promise<void> {
  const { dialect, source, server, relay } = asked
  const { type, settings, secretParts, attachText } = dialect
  const as = sql.ident(attachedName(source))
  const { user, database, password } = server
  const parts = [
    sql`TYPE ${type}`,
    sql`PORT ${sql.value(String(relay.port))}`,
    sql`USER ${sql.value(user)}`,
    sql`DATABASE ${sql.value(database)}`,
    ...(password === null ? [] : [sql`PASSWORD ${sql.value(password)}`]),
    ...secretParts(server),
  ]
  if (settings.length > 0) await connection.run(sql.join(settings, sql`;\n`))
  await connection.run(sql`CREATE OR REPLACE SECRET ${as} (${sql.join(parts)})`)
  const text = sql.value(attachText(server))
  await connection.run(sql`ATTACH ${text} AS ${as} (TYPE ${type}, SECRET ${as}, READ_ONLY)`)
}

/** For an error of a model, which says nothing of the server: it is that of a source whose relay has cut a connection. */
function cutOff(message: string, { server, relay }: Asked): Explanation | null {
  if (!isLostInModel(message)) return null
  const problem = relay.takeProblem()
  return problem && relayProblem(server, problem)
}

/** The same for what the server itself has said. */
function readProblem(
  message: string,
  dialect: ServerDialect,
  source: ExternalSource,
): Explanation | null {
  const server = source.server!
  const refused = refusedRight(message, { dialect, source, server })
  if (refused !== null) return refused
  if (isTooLong(message)) return dialect.endsStatements ? tooLong(server) : null
  return isLostInModel(message)
    ? { problem: `${server.shown} closed the connection while it was read`, hint: AGAIN }
    : null
}

const AGAIN =
  'what the model had before is unchanged; see the log of the server, and when it works: eider run --retry'

const isLostInModel = (message: string) =>
  isLost(message) && /Postgres|MySQL|COPY|query/i.test(message)

/** What went wrong with the server; null: nothing is known. */
function serverProblem(message: string, asked: Asked): Explanation | null {
  const { dialect, server, relay } = asked
  const { type, tlsParameter: parameter, hidesTls } = dialect
  const { shown, user, database, passwordHint } = server
  const orTls = hidesTls ? `; where the user needs TLS, add ?${parameter} to the URL` : ''
  const ofPassword = `${passwordHint}${orTls}`
  const url = `check ${type.inline()} of the source`
  // MySQL knows a user by the machine, too: 'reader'@'localhost' is another one than 'reader'@'%'.
  const account = /Access denied for user ('.*?'@'.*?')/.exec(message)?.[1]
  const orAccount =
    account === undefined
      ? ''
      : `, or whether the user may come from there: SHOW GRANTS FOR ${account}`
  if (/password authentication failed|Access denied for user .*using password: YES/.test(message))
    return {
      problem: `${shown} refuses the password of ${account ?? user}`,
      hint: ofPassword + orAccount,
    }
  if (/no password supplied|Access denied for user .*using password: NO/.test(message))
    return {
      problem: `${shown} asks for the password of ${account ?? user}`,
      hint: ofPassword + orAccount,
    }
  if (/Access denied for user .* to database/.test(message))
    return { problem: `${shown} has no database "${database}" that ${user} may read`, hint: url }
  if (/database ".*" does not exist|Unknown database/.test(message))
    return { problem: `${shown} has no database "${database}"`, hint: url }
  if (/permission denied for database/.test(message))
    return {
      problem: `${shown} does not let ${user} read the database "${database}"`,
      hint: 'let its administrator grant the right to read',
    }
  if (/role ".*" does not exist/.test(message))
    return { problem: `${shown} has no user "${user}"`, hint: url }
  if (/does ?n[o']t support (?:SSL|it)|server does not support/.test(message))
    return {
      problem: `${shown} has no TLS, which the URL asks for`,
      hint: `leave ${parameter} out, or turn TLS on there`,
    }
  if (
    /no pg_hba\.conf entry .*no encryption|SSL off|insecure transport are prohibited/i.test(message)
  )
    return { problem: `${shown} asks for TLS`, hint: `add ?${parameter} to the URL` }
  if (/no pg_hba\.conf entry/.test(message))
    return {
      problem: `${shown} does not let ${user} connect from this machine`,
      hint: 'let its administrator add an entry to pg_hba.conf',
    }
  if (/certificate verify failed|certificate/.test(message))
    return {
      problem: `the TLS certificate of ${shown} is not valid here`,
      hint: 'add sslrootcert (ssl_ca in MySQL) with its authority to the URL',
    }
  const refused = refusedRight(message, asked)
  if (refused !== null) return refused
  if (/permission denied for|command denied to user/.test(message))
    return {
      problem: message
        .split('\n')[0]!
        .replace(/^.*?(?=permission denied|SELECT command denied)/s, ''),
      hint: `let its administrator grant ${user} the right to read`,
    }
  if (isTooLong(message)) return tooLong(server)
  return isLost(message) ? relayProblem(server, relay.takeProblem()) : null
}

/** null: it is no refusal, or that of a table which the source does not name. */
function refusedRight(
  message: string,
  { dialect, source, server }: Omit<Asked, 'relay'>,
): Explanation | null {
  const { quoted } = dialect
  const [, schema] = /permission denied for schema (\S+)/.exec(message) ?? []
  if (schema !== undefined && sameName(bareName(schema), source.schema))
    return {
      problem: `${server.shown} does not let ${server.user} use the schema ${source.schema}`,
      hint: `let its administrator run GRANT USAGE ON SCHEMA ${quoted(source.schema)} TO ${quoted(server.user)}`,
    }
  const [, inMySql, ofMySql] =
    /SELECT command denied to user ('.*?'@'.*?') for (?:table|column .* in table) (\S+)/.exec(
      message,
    ) ?? []
  const [, ofPostgres] =
    /permission denied for (?:foreign |materialized )?(?:table|view|relation) (\S+)/.exec(
      message,
    ) ?? []
  const named = ofMySql ?? ofPostgres
  if (named === undefined) return null
  const bare = bareName(named).split('.').at(-1)!
  const table = source.tables.find(({ name }) => sameName(name, bare))
  if (table === undefined) return null
  const place = `${quoted(source.schema)}.${quoted(table.name)}`
  return {
    problem: `${server.shown} does not let ${server.user} read ${table.name}`,
    hint: `let its administrator run GRANT SELECT ON ${place} TO ${inMySql ?? quoted(server.user)}`,
  }
}

const bareName = (name: string) => name.replaceAll(/["'`]/g, '')

const isLost = (message: string) =>
  /Unable to connect to Postgres|Failed to connect to MySQL|server closed the connection|no connection to the server|could not receive data|Lost connection|gone away|SSL connection has been closed|connection not open|terminating connection|timeout expired|reading .*(?:packet|greeting)|unexpectedly/i.test(
    message,
  )

const isTooLong = (message: string) => /canceling statement due to statement timeout/.test(message)

const tooLong = ({ shown, timeout }: SourceServer): Explanation => ({
  problem: `${shown} takes longer than ${timeout.text} for a statement`,
  hint: 'set a longer "timeout" of the source, such as 5 minutes',
})

function relayProblem(server: SourceServer, problem: RelayProblem | null): Explanation {
  const { shown } = server
  const check = 'check its URL, and whether the server runs'
  switch (problem?.is) {
    case 'unknown-host':
      return { problem: `the host of ${shown} is unknown`, hint: 'check the name of the host' }
    case 'refused':
      return { problem: `nothing listens at ${shown}`, hint: check }
    case 'unreachable':
      return { problem: `${shown} cannot be reached`, hint: check }
    case 'silent-from-the-start':
      return { problem: `${shown} does not answer (${problem.ms / 1_000} s)`, hint: check }
    case 'silent':
      return tooLong(server)
    case undefined:
      return {
        problem: `${shown} closed the connection`,
        hint: 'see its log; run again when it works',
      }
  }
}
