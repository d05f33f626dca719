// A stream of Redis, which checks nothing and speaks a protocol of its own.

import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { freePort } from '../../support/free-port.ts'
import { BATCH, EVENT } from '../ingest.ts'
import { BATCH_CONNECTIONS, ingestComparison, type IngestServer } from './ingest-peer.ts'
import { redisPrograms } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'

export const redisPeer = ingestComparison({
  name: 'redis',
  title: 'Redis Streams',
  version: () => {
    const { server, env } = redisPrograms()
    const said = execFileSync(server, ['--version'], { env, encoding: 'utf8' })
    return /v=([\d.]+)/.exec(said)![1]!
  },
  settings: `\`appendonly yes\`, \`appendfsync always\`, no rewriting of the file meanwhile; XADD by its own \`redis-benchmark\`, batches as pipelines of ${BATCH.toLocaleString('en-US')} commands. No HTTP, and no checks of what an event has in it.`,
  durability: 'Both sync before they answer, many events at once.',
  goals: { single: 1.2, batches: 1 },
  start,
})

async function start(): Promise<IngestServer> {
  const { server, benchmark, env } = redisPrograms()
  const dir = await peerDirectory()
  const port = await freePort()
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--dir', dir]
  const quiet = ['--auto-aof-rewrite-percentage', '0']
  const child = await startPeer(
    server,
    ['--port', String(port), '--bind', '127.0.0.1', ...settings, ...quiet],
    { dir, env, isReady: async () => (await ask(port, 'PING')).startsWith('+PONG') },
  )
  const add = (events: number, connections: number, pipelined: number) => {
    const sizes = ['-c', connections, '-n', events, '-P', pipelined].map(String)
    const args = ['-p', String(port), ...sizes, '--csv', 'XADD', 'events', '*', 'e', EVENT]
    const printed = execFileSync(benchmark, args, { env, encoding: 'utf8' })
    const [, rate] = /^"XADD.*?","([\d.]+)"/m.exec(printed) ?? []
    if (rate === undefined) throw new Error(`redis-benchmark said ${printed}`)
    return Promise.resolve({ events, allEvents: events, ms: (events * 1_000) / Number(rate) })
  }
  return {
    pid: child.pid,
    single: (events, connections) => add(events, connections, 1),
    batches: (events) => add(events, BATCH_CONNECTIONS, BATCH),
    async stored() {
      const newest = await ask(port, 'XREVRANGE events + - COUNT 1')
      if (!newest.includes(EVENT)) throw new Error(`Redis has ${newest}`)
      return Number(/^:(\d+)/.exec(await ask(port, 'XLEN events'))?.[1])
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

/** The answer to one command. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('data', (answer: Buffer) => {
      socket.destroy()
      resolve(answer.toString('latin1'))
    })
    socket.write(`${command}\r\n`)
  })
}
