// See servers.ts. The first line of stdout tells where the servers are; each line of stdin, `kill` or `start` with the
// name of a server, is answered by a line. The end of stdin, which is also that of the parent, ends all.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../free-port.ts'
import { findPostgres, partsDirectory, places } from './parts.ts'
import { bucket, superuser } from './servers.ts'

type Name = 'postgres' | 'store'

interface Server {
  readonly port: number
  readonly program: string
  readonly args: readonly string[]
  readonly owner: { readonly uid?: number; readonly gid?: number }
}

const address = process.env['EIDER_TEST_ADDRESS'] ?? '127.0.0.1'
const directory = mkdtempSync(join(tmpdir(), 'eider-lake-'))
const running = new Map<Name, ChildProcess>()
process.on('exit', () => {
  for (const child of running.values()) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(1))

const servers: Readonly<Record<Name, Server>> = {
  postgres: preparePostgres(await freePort(address)),
  store: prepareStore(await freePort(address)),
}
await Promise.all([start('postgres'), start('store')])
say({ address, directory, postgresPort: servers.postgres.port, storePort: servers.store.port })

for await (const line of createInterface(process.stdin)) {
  const [verb, name] = line.split(' ') as ['kill' | 'start', Name]
  await (verb === 'kill' ? kill(name) : start(name))
  say('done')
}
// At once, but with its shared memory given back.
await kill('postgres', 'SIGQUIT')
process.exit(0)

function preparePostgres(port: number): Server {
  const owner = postgresOwner()
  const bin = readableBy(owner)
  const data = join(directory, 'postgres')
  const password = join(directory, 'password')
  writeFileSync(password, superuser.password)
  mkdirSync(data)
  if (owner.uid !== undefined)
    for (const path of [directory, data, password]) chownSync(path, owner.uid, owner.gid!)
  const options = [
    `--pgdata=${data}`,
    `--username=${superuser.user}`,
    `--pwfile=${password}`,
    '--auth-local=trust',
    '--auth-host=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ]
  const { status, stderr } = spawnSync(join(bin, 'initdb'), options, {
    ...owner,
    cwd: directory,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`initdb: ${stderr}`)
  appendFileSync(join(data, 'pg_hba.conf'), 'host all all samenet scram-sha-256\n')
  const settings = [`listen_addresses=${address}`, 'max_connections=200', 'logging_collector=off']
  const args = ['-D', data, '-p', String(port), '-k', directory]
  return {
    port,
    program: join(bin, 'postgres'),
    args: [...args, ...settings.flatMap((setting) => ['-c', setting])],
    owner,
  }
}

/** PostgreSQL refuses to be started by root. */
function postgresOwner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (option: string, user: string) =>
    Number(spawnSync('id', [option, user], { encoding: 'utf8' }).stdout.trim() || Number.NaN)
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = [id('-u', user), id('-g', user)]
    if (uid > 0 && gid > 0) return { uid, gid }
  }
  throw new Error('there is no user postgres or nobody, and PostgreSQL refuses to be run by root')
}

/** The home directory of root, where the cache is, is closed to others. */
function readableBy({ uid }: Server['owner']): string {
  const bin = findPostgres()!
  if (uid === undefined || !bin.startsWith(partsDirectory)) return bin
  const copy = join(directory, 'programs')
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function prepareStore(port: number): Server {
  const files = join(directory, 'store')
  const options = ['--address', address, '--port', String(port), '--directory', files]
  return {
    port,
    program: process.execPath,
    args: [
      places.store,
      ...options,
      '--silent',
      '--no-vhost-buckets',
      '--configure-bucket',
      bucket,
    ],
    owner: {},
  }
}

async function start(name: Name): Promise<void> {
  const { port, program, args, owner } = servers[name]
  // A postmaster that was killed leaves its file behind, and its children end a moment later.
  const child = spawn(program, args, {
    ...owner,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)))
  running.set(name, child)
  const until = Date.now() + 60_000
  while (!(await answers(name, port))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${program}: ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function kill(name: Name, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const child = running.get(name)!
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

/** PostgreSQL takes connections before it serves them, and makes its socket when it listens. */
function answers(name: Name, port: number): Promise<boolean> {
  if (name === 'postgres' && !existsSync(join(directory, `.s.PGSQL.${port}`)))
    return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect(port, address)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      if (name === 'store') {
        socket.destroy()
        return resolve(true)
      }
      const startup = Buffer.from(`user\0${superuser.user}\0\0`)
      const head = Buffer.alloc(8)
      head.writeInt32BE(8 + startup.length, 0)
      head.writeInt32BE(196_608, 4)
      socket.write(Buffer.concat([head, startup]))
      // R: it asks for the password, so it serves. E: it is starting up.
      socket.once('data', (chunk) => {
        socket.destroy()
        resolve(chunk[0] === 'R'.charCodeAt(0))
      })
    })
    socket.once('close', () => resolve(false))
  })
}

function say(answer: unknown): void {
  process.stdout.write(JSON.stringify(answer) + '\n')
}
