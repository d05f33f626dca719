// A source of Apache Flume that takes events over HTTP, with a channel in files.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { BATCH, EVENT } from '../ingest.ts'
import { type Load, measureLoad, postRequest } from '../load.ts'
import { BATCH_CONNECTIONS, ingestComparison, type IngestServer } from './ingest-peer.ts'
import { javaLibraries, javaMissing } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'

const MOST_EVENTS = 20_000_000
const LOAD_MS = 3_000

export const flumePeer = ingestComparison({
  name: 'flume',
  title: 'Apache Flume 1.9.0',
  settings: `The HTTP source and a file channel of ${MOST_EVENTS.toLocaleString('en-US')} events, each event a body of text without headers, a heap of 2 GB; no sink. Events by the same client as for eider. No checks of what an event has in it.`,
  durability: 'Both sync before they answer; Flume once for each request.',
  goals: { single: null, batches: null },
  missing: javaMissing,
  start,
})

const single = JSON.stringify([{ headers: {}, body: EVENT }])
const batch = JSON.stringify(Array(BATCH).fill({ headers: {}, body: EVENT }))

interface Metrics {
  readonly 'CHANNEL.c'?: { readonly EventPutSuccessCount: string }
}

async function start(): Promise<IngestServer> {
  const libraries = javaLibraries('flume')
  const dir = await peerDirectory()
  const [port, metricsPort] = [await freePort(), await freePort()]
  const config = {
    sources: 's',
    channels: 'c',
    'sources.s.type': 'http',
    'sources.s.bind': '127.0.0.1',
    'sources.s.port': port,
    'sources.s.channels': 'c',
    'channels.c.type': 'file',
    'channels.c.dataDirs': join(dir, 'data'),
    'channels.c.checkpointDir': join(dir, 'checkpoint'),
    'channels.c.capacity': MOST_EVENTS,
    'channels.c.transactionCapacity': BATCH,
  }
  const lines = Object.entries(config).map(([name, value]) => `a.${name} = ${value}\n`)
  await writeFile(join(dir, 'flume.conf'), lines.join(''))
  const stored = async () => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
    const metrics = (await answer.json()) as Metrics
    return Number(metrics['CHANNEL.c']?.EventPutSuccessCount)
  }
  const heap = '-Xmx2g'
  const monitoring = ['-Dflume.monitoring.type=http', `-Dflume.monitoring.port=${metricsPort}`]
  const agent = ['org.apache.flume.node.Application', '-n', 'a', '-f', join(dir, 'flume.conf')]
  const args = [heap, ...monitoring, '-cp', join(libraries, '*'), ...agent]
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0
  const child = await startPeer('java', args, { dir, isReady })
  const send = async (load: Pick<Load, 'connections' | 'request'>, eventsEach: number) => {
    const all = { port, pipelined: 1, durationMs: LOAD_MS, status: 200, ...load }
    const { answers, allAnswers, ms } = await measureLoad(all)
    return { events: answers * eventsEach, ms, allEvents: allAnswers * eventsEach }
  }
  return {
    pid: child.pid,
    single: (_, connections) => send({ connections, request: postRequest('/', single) }, 1),
    batches: () =>
      send({ connections: BATCH_CONNECTIONS, request: postRequest('/', batch) }, BATCH),
    stored,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
