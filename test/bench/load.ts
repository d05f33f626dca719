// A closed-loop HTTP/1.1 load: every connection sends the same request again as soon as its answer is there.
// It runs in a process of its own (`node load.js`), because the servers it measures need theirs.

import { type ChildProcess, fork } from 'node:child_process'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface Load {
  readonly port: number
  readonly connections: number
  readonly durationMs: number
  /** The whole request, head and body. */
  readonly request: string
  /** Status that an answer must have. */
  readonly status: number
}

export interface LoadResult {
  readonly answers: number
  readonly ms: number
  /** 99th percentile of the time from request to answer. */
  readonly p99Ms: number
}

const WARM_UP_MS = 500

/** Rejects when any answer has another status. */
export async function measureLoad(load: Load): Promise<LoadResult> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), { serialization: 'json' })
  child.send(load)
  const [result] = await new Promise<[LoadResult | { error: string }]>((resolve) =>
    child.once('message', (m) => resolve([m as LoadResult])),
  )
  child.kill()
  if ('error' in result) throw new Error(result.error)
  return result
}

export function postRequest(path: string, body: string, type = 'application/json'): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function drive(load: Load): Promise<LoadResult> {
  const request = Buffer.from(load.request)
  const expected = Buffer.from(`HTTP/1.1 ${load.status} `)
  const startedAt = performance.now()
  const countFrom = startedAt + WARM_UP_MS
  const endAt = countFrom + load.durationMs
  const latencies: number[] = []

  await Promise.all(
    Array.from({ length: load.connections }, () => {
      return new Promise<void>((resolve, reject) => {
        const socket = connect(load.port, '127.0.0.1')
        let sentAt = 0
        const send = () => {
          sentAt = performance.now()
          socket.write(request)
        }
        socket.setNoDelay(true)
        socket.on('connect', send)
        socket.on('error', reject)
        // Answers are smaller than one segment, so a chunk is an answer.
        socket.on('data', (chunk: Buffer) => {
          if (chunk.compare(expected, 0, expected.length, 0, expected.length) !== 0)
            return reject(new Error(`unexpected answer: ${chunk.subarray(0, 200).toString()}`))
          const now = performance.now()
          if (now >= countFrom && now <= endAt) latencies.push(now - sentAt)
          if (now < endAt) return send()
          socket.destroy()
          return resolve()
        })
      })
    }),
  )
  latencies.sort((a, b) => a - b)
  return {
    answers: latencies.length,
    ms: load.durationMs,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url))
  process.once('message', (load) => {
    drive(load as Load).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
