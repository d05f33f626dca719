// A server that takes notifications, and answers as a test wants.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Notification } from '../../src/core/report/up.ts'

interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** In the order of their arrival. */
  readonly received: readonly Notification[]
  /** Statuses of the next answers, then 200. */
  readonly answers: number[]
}

export async function receiver(): Promise<Receiver> {
  const received: Notification[] = []
  const answers: number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push(JSON.parse(Buffer.concat(chunks).toString()) as Notification)
      response.writeHead(answers.shift() ?? 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answers,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
