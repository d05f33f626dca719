// Single events, each synced before it is acknowledged: eider over HTTP against a stream of Redis with
// `appendfsync always`, which checks nothing and speaks a protocol of its own.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { workspace } from '../../support/workspace.ts'
import { interleaved } from '../figure.ts'
import { EVENT, EVENTS_MODEL } from '../ingest.ts'
import { measureLoad, postRequest } from '../load.ts'
import { redisPrograms } from './peer-cache.ts'
import type { PeerBenchmark } from './peer.ts'

const CONNECTIONS = 256

export const redisPeer: PeerBenchmark = {
  name: 'redis',
  async run({ quick }) {
    const { server, benchmark, env } = redisPrograms()
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      'models/raw/events.sql': EVENTS_MODEL,
    })
    await using daemon = await space.start([
      'collect',
      'daemon',
      '--port',
      '0',
      '--admin-port',
      '0',
      '--quiet',
    ])
    const port = await freePort()
    const settings = [
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
      '--dir',
      space.dir,
    ]
    const child = spawn(server, ['--port', String(port), '--bind', '127.0.0.1', ...settings], {
      env,
      stdio: 'ignore',
    })
    try {
      await until(() =>
        ask(port, 'PING').then(
          (answer) => answer.startsWith('+PONG'),
          () => false,
        ),
      )
      const count = quick ? 20_000 : 200_000
      let sent = 0
      const ofRedis = () => {
        const args = ['-p', String(port), '-c', String(CONNECTIONS), '-n', String(count), '--csv']
        const printed = execFileSync(benchmark, [...args, 'XADD', 'events', '*', 'e', EVENT], {
          env,
          encoding: 'utf8',
        })
        sent += count
        const [, rate] = /^"XADD.*?","([\d.]+)"/m.exec(printed) ?? []
        if (rate === undefined) throw new Error(`redis-benchmark said ${printed}`)
        return Promise.resolve(1e6 / Number(rate))
      }
      const ofEider = async () => {
        const { answers, ms } = await measureLoad({
          port: Number(new URL(daemon.url).port),
          connections: CONNECTIONS,
          pipelined: 1,
          durationMs: quick ? 1_000 : 3_000,
          request: postRequest('/collect/raw/events', EVENT),
          status: 202,
        })
        return (ms * 1_000) / answers
      }
      const us = await interleaved(quick ? 1 : 5, ofEider, ofRedis)
      const kept = /^:(\d+)/.exec(await ask(port, 'XLEN events'))?.[1]
      if (Number(kept) !== sent) throw new Error(`Redis has ${kept} of ${sent} events`)
      return [
        {
          work: `a single durable event, ${CONNECTIONS} connections`,
          peer: 'Redis 7.0 Streams',
          eider: us.ours,
          other: us.baseline,
          unit: 'us',
          goal: 1.2,
          note: 'both sync before they answer; Redis appendfsync always, its own client in C, no HTTP, no checks',
        },
      ]
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  },
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
