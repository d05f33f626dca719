// Sources on database servers: attached for reading only, by way of a relay that ends a connection to a silent one.

import type { ExternalSource, SourceServer } from '../../core/external.ts'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import { type RelayProblem, ServerRelay } from '../../duckdb/server-relay.ts'
import type { Reason } from './problems.ts'

/** What is attached for a source, beside the catalog that has its views. */
export const attachedName = ({ name }: Pick<ExternalSource, 'name'>) => `_eider_source_${name}`

/** Opens the way to a server; it is closed with the database. */
export async function openRelay(database: Database, server: SourceServer): Promise<ServerRelay> {
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
export async function attachServer(
  connection: Connection,
  source: ExternalSource,
  server: SourceServer,
  relay: ServerRelay,
): Promise<void> {
  const isMysql = source.system === 'mysql'
  const secret = sql.ident(attachedName(source))
  const type = isMysql ? sql`mysql` : sql`postgres`
  const { host, user, database, password, parameters } = server
  const ofMysql = parameters.map(([name, value]) => sql`${sql.ident(name)} ${sql.value(value)}`)
  const parts = [
    sql`TYPE ${type}`,
    sql`HOST ${sql.value(isMysql ? '127.0.0.1' : host)}`,
    sql`PORT ${sql.value(String(relay.port))}`,
    sql`USER ${sql.value(user)}`,
    sql`DATABASE ${sql.value(database)}`,
    ...(password === null ? [] : [sql`PASSWORD ${sql.value(password)}`]),
    ...(isMysql ? ofMysql : []),
  ]
  if (isMysql) await connection.run(sql.join(MYSQL_SETTINGS, sql`;\n`))
  await connection.run(sql`CREATE OR REPLACE SECRET ${secret} (${sql.join(parts)})`)
  const how = isMysql ? '' : postgresParameters(server)
  const as = sql.ident(attachedName(source))
  await connection.run(
    sql`ATTACH ${sql.value(how)} AS ${as} (TYPE ${type}, SECRET ${secret}, READ_ONLY)`,
  )
}

/** Of all databases of MySQL that the engine reads. */
const MYSQL_SETTINGS: readonly Sql[] = [
  // A TINYINT(1) holds 2 as well as 1.
  sql`SET GLOBAL mysql_tinyint1_as_boolean = false`,
  // To MySQL 'a' is mostly equal to 'A', and 'b ' to 'b': it would give other rows, groups and least values than DuckDB.
  sql`SET GLOBAL mysql_experimental_filter_pushdown = false`,
  sql`SET GLOBAL mysql_aggregate_pushdown_enabled = false`,
  sql`SET GLOBAL mysql_order_pushdown_enabled = false`,
  // A TIMESTAMP of MySQL is a point in time, which it says in the time zone of the session.
  sql`SET GLOBAL mysql_session_time_zone = '+00:00'`,
]

/** The name of the host is that of the certificate; the relay is where it is. */
function postgresParameters({ timeout, parameters }: SourceServer): string {
  return [
    ['hostaddr', '127.0.0.1'],
    ['connect_timeout', String(limits.sourceConnectSeconds + 2)],
    ...parameters,
    ['options', `-c statement_timeout=${timeout.ms}`],
  ]
    .map(([name, value = '']) => `${name}=${quoted(value)}`)
    .join(' ')
}

/** As libpq reads a value. */
const quoted = (value: string) => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`

/**
 * The same for an error of a model, which says nothing of the server: it is that of a source whose relay has cut a
 * connection, or of the only one of its kind that it can be.
 */
export function brokenServer(
  message: string,
  { name, system, server }: ExternalSource,
  relay: ServerRelay,
  isOnly: boolean,
): string | null {
  if (server === null) return null
  const says = (reason: Reason) =>
    `the source "${name}" cannot be read: ${reason.problem}${reason.hint === undefined ? '' : `; ${reason.hint}`}`
  if (isTooLong(message)) return isOnly && system === 'postgres' ? says(tooLong(server)) : null
  if (!isLost(message) || !/Postgres|MySQL|COPY|query/i.test(message)) return null
  const problem = relay.takeProblem()
  return problem === null ? null : says(relayProblem(server, problem))
}

/** What went wrong with the server; null: nothing is known. */
export function serverProblem(
  message: string,
  server: SourceServer,
  system: ExternalSource['system'],
  relay: ServerRelay | null,
): Reason | null {
  const { shown, user, database, passwordHint } = server
  const parameter = system === 'mysql' ? 'ssl_mode=required' : 'sslmode=require'
  // MySQL says the same to who comes without TLS.
  const orTls = system === 'mysql' ? `; where the user needs TLS, add ?${parameter} to the URL` : ''
  const ofPassword = `${passwordHint}${orTls}`
  const url = `check ${system} of the source`
  if (/password authentication failed|Access denied for user .*using password: YES/.test(message))
    return { problem: `${shown} refuses the password of ${user}`, hint: ofPassword }
  if (/no password supplied|Access denied for user .*using password: NO/.test(message))
    return { problem: `${shown} asks for the password of ${user}`, hint: ofPassword }
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
  if (/permission denied for|command denied to user/.test(message))
    return {
      problem: message
        .split('\n')[0]!
        .replace(/^.*?(?=permission denied|SELECT command denied)/s, ''),
      hint: `let its administrator grant ${user} the right to read`,
    }
  if (isTooLong(message)) return tooLong(server)
  return isLost(message) ? relayProblem(server, relay?.takeProblem() ?? null) : null
}

const isLost = (message: string) =>
  /Unable to connect to Postgres|Failed to connect to MySQL|server closed the connection|no connection to the server|could not receive data|Lost connection|gone away|SSL connection has been closed|connection not open|terminating connection|timeout expired|reading .*(?:packet|greeting)|unexpectedly/i.test(
    message,
  )

const isTooLong = (message: string) => /canceling statement due to statement timeout/.test(message)

const tooLong = ({ shown, timeout }: SourceServer): Reason => ({
  problem: `${shown} takes longer than ${timeout.text} for a statement`,
  hint: 'set a longer "timeout" of the source, such as 5 minutes',
})

function relayProblem(server: SourceServer, problem: RelayProblem | null): Reason {
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
