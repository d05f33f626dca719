// The baseline of ingest: a node:http server that answers 202 and does nothing else, or 200 with a body. A process of
// its own.

import { type ChildProcess, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface BareServer extends AsyncDisposable {
  readonly pid: number
  readonly port: number
}

/** With `bytes` of a body. */
export async function startBareServer(bytes = 0): Promise<BareServer> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [String(bytes)])
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve(Number(message))),
  )
  return {
    pid: child.pid!,
    port,
    async [Symbol.asyncDispose]() {
      child.kill()
    },
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const body = Buffer.alloc(Number(process.argv[2]), 'x')
  const status = body.length === 0 ? 202 : 200
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(status, { 'Content-Length': body.length })
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}
