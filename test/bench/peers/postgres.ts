// A table of PostgreSQL with the same types: single INSERTs, and COPY.

import { execFile, execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../support/free-port.ts'
import { findPostgres } from '../../support/lake/parts.ts'
import { BATCH, EVENT } from '../ingest.ts'
import { BATCH_CONNECTIONS, ingestComparison, type IngestServer, type Sent } from './ingest-peer.ts'
import { peerDirectory, startPeer } from './peer-process.ts'

const run = promisify(execFile)

export const postgresPeer = ingestComparison({
  name: 'postgres',
  title: 'PostgreSQL',
  version() {
    const said = execFileSync(join(findPostgres()!, 'postgres'), ['--version'], {
      encoding: 'utf8',
    })
    return /[\d.]+/.exec(said)![0]
  },
  settings: `That of the system, with \`synchronous_commit\` and \`fsync\` on, over TCP; \`pgbench\` with prepared INSERTs, and \`COPY\` of ${BATCH.toLocaleString('en-US')} rows from a file that the server reads itself. A typed table without an index.`,
  durability: 'Both sync before they answer, many events at once, and check types.',
  goals: { single: null, batches: null },
  fewConnections: 32,
  missing: () =>
    findPostgres() === null ? ['PostgreSQL is missing: apt-get install postgresql'] : [],
  start,
})

const COLUMNS =
  'id bigint not null, user_name text not null, action text, amount numeric(18,4), ok boolean, at timestamptz, note text'

async function start(): Promise<IngestServer> {
  const bin = findPostgres()!
  const owner = ownerOf()
  const dir = await peerDirectory()
  const [data, batch] = [join(dir, 'data'), join(dir, 'batch.csv')]
  await mkdir(data)
  const values = Object.values(JSON.parse(EVENT) as Readonly<Record<string, unknown>>)
  await writeFile(batch, `${values.map((value) => `"${String(value)}"`).join()}\n`.repeat(BATCH))
  await chmod(dir, 0o755)
  if (owner.uid !== undefined) await chown(data, owner.uid, owner.gid!)
  const init = [`--pgdata=${data}`, '--username=bench', '--auth=trust', '--encoding=UTF8']
  execFileSync(join(bin, 'initdb'), [...init, '--no-locale'], { ...owner, cwd: dir, stdio: 'pipe' })
  const port = await freePort()
  const address = ['-h', '127.0.0.1', '-p', String(port), '-U', 'bench']
  const ask = async (statement: string) =>
    (await run('psql', [...address, '-d', 'postgres', '-Atc', statement])).stdout.trim()
  const settings = ['listen_addresses=127.0.0.1', 'max_connections=300', 'max_wal_size=8GB']
  const child = await startPeer(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-k', data, ...settings.flatMap((one) => ['-c', one])],
    { ...owner, dir, signal: 'SIGINT', isReady: async () => (await ask('SELECT 1')) === '1' },
  )
  await ask(`CREATE TABLE events (${COLUMNS})`)
  const literals = values.map((value) => `'${String(value)}'`).join(', ')
  await writeFile(join(dir, 'insert.sql'), `INSERT INTO events VALUES (${literals});\n`)
  await writeFile(join(dir, 'copy.sql'), `COPY events FROM '${batch}' WITH (FORMAT csv);\n`)
  const bench = async (script: string, clients: number, each: number): Promise<Sent> => {
    const sizes = ['-c', clients, '-j', 2, '-t', each].map(String)
    const how = ['-n', '-M', 'prepared', '-f', join(dir, script), ...sizes]
    const { stdout } = await run(join(bin, 'pgbench'), [...address, ...how, 'postgres'])
    const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? []
    const [, done] = /actually processed: (\d+)/.exec(stdout) ?? []
    if (rate === undefined || done === undefined) throw new Error(`pgbench said ${stdout}`)
    return {
      events: Number(done),
      allEvents: Number(done),
      ms: (Number(done) * 1_000) / Number(rate),
    }
  }
  return {
    pid: child.pid,
    single: (events, connections) =>
      bench('insert.sql', connections, Math.ceil(events / connections)),
    async batches(events) {
      const each = Math.ceil(events / BATCH / BATCH_CONNECTIONS)
      const sent = await bench('copy.sql', BATCH_CONNECTIONS, each)
      const stored = sent.events * BATCH
      return { ...sent, events: stored, allEvents: stored }
    },
    stored: async () =>
      Number(await ask(`SELECT count(*) FROM events WHERE row(events.*) = row(${literals})`)),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

/** PostgreSQL refuses to be started by root. */
function ownerOf(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (option: string) =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
