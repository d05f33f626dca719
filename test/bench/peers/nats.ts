// A stream of NATS JetStream on disk.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../support/free-port.ts'
import { BATCH, EVENT } from '../ingest.ts'
import { BATCH_CONNECTIONS, ingestComparison, type IngestServer } from './ingest-peer.ts'
import { goProgram } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'

const run = promisify(execFile)
/** It syncs each message, so fewer are enough. */
const PART = 10

const atomic = [
  'atomic',
  'batches',
  '--create',
  '--stream=batches',
  '--storage=file',
  '--maxbytes=20GB',
  `--batch=${BATCH}`,
]

interface Info {
  readonly state: { readonly messages: number }
}

export const natsPeer = ingestComparison({
  name: 'nats',
  title: 'NATS JetStream 2.15.2',
  settings: `A stream of one replica in files, \`sync_interval: always\`; \`nats bench js pub sync\`, batches as \`atomic\`. No checks of what an event has in it.`,
  durability: 'Both sync before they answer; NATS about once for each message or batch.',
  goals: { single: null, batches: null },
  start,
})

async function start(): Promise<IngestServer> {
  const [server, client] = ['nats-server', 'nats'].map((name) => goProgram('nats', name))
  const dir = await peerDirectory()
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const payload = join(dir, 'event.json')
  await writeFile(payload, EVENT)
  await writeFile(
    join(dir, 'server.conf'),
    `listen: "${address}"\njetstream { store_dir: "${dir}", sync_interval: always }\n`,
  )
  const ask = async (...args: readonly string[]) =>
    (await run(client!, ['-s', address, '--timeout=120s', ...args], { maxBuffer: 2 ** 24 })).stdout
  const child = await startPeer(server!, ['-c', join(dir, 'server.conf')], {
    dir,
    isReady: async () => (await ask('account', 'info')).includes('JetStream'),
  })
  await ask('stream', 'add', 'bench', '--subjects=events', '--storage=file', '--defaults')
  const publish = async (how: readonly string[], events: number, connections: number) => {
    const sizes = [`--clients=${connections}`, `--msgs=${events}`, `--payload=${payload}`]
    const said = await ask('bench', 'js', 'pub', ...how, ...sizes, '--no-progress')
    const [, rate] = /([\d,]+) msgs\/sec/.exec(said.slice(said.indexOf('aggregated'))) ?? []
    if (rate === undefined) throw new Error(`nats bench said ${said.slice(-500)}`)
    return { events, allEvents: events, ms: (events * 1_000) / Number(rate.replaceAll(',', '')) }
  }
  return {
    pid: child.pid,
    single: (events, connections) =>
      publish(['sync', 'events', '--stream=bench'], events / PART, connections),
    batches: (events) => publish(atomic, events, BATCH_CONNECTIONS),
    async stored() {
      let messages = 0
      for (const name of ['bench', 'batches']) {
        const info = JSON.parse(await ask('stream', 'info', name, '--json')) as Info
        messages += info.state.messages
      }
      return messages
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
