// A web server with files, that also does what web servers do when they are not well.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface FileServer extends AsyncDisposable {
  readonly url: string
  /** `GET /a.csv Bearer …` for each request. */
  readonly requests: string[]
  /** Path to its body; a function answers by itself. */
  readonly files: Map<string, string | Uint8Array | Answer>
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export async function fileServer(
  files: Readonly<Record<string, string | Uint8Array | Answer>>,
): Promise<FileServer> {
  const found = new Map(Object.entries(files))
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push(`${method} ${url} ${headers.authorization ?? ''}`.trim())
    const file = found.get(url)
    if (typeof file === 'function') return file(request, response)
    if (file === undefined) return void response.writeHead(404).end()
    give(request, response, Buffer.from(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    files: found,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** With parts, as the readers of Parquet ask for them. */
function give({ method, headers }: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const tag = `"${body.toString('hex').slice(-32)}"`
  const common = { etag: tag, 'accept-ranges': 'bytes' }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  if (method === 'HEAD' || from === undefined) {
    response.writeHead(200, { ...common, 'content-length': body.length })
    return void response.end(method === 'HEAD' ? undefined : body)
  }
  const part = body.subarray(Number(from), to === '' ? undefined : Number(to) + 1)
  const range = `bytes ${from}-${Number(from) + part.length - 1}/${body.length}`
  response.writeHead(206, { ...common, 'content-length': part.length, 'content-range': range })
  response.end(part)
}

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end()

/** Takes the request and says nothing. */
export const silence: Answer = () => undefined

/** Promises more than it gives. */
export const cutOff: Answer = ({ method }, response) => {
  response.writeHead(200, { 'content-length': 1_000 })
  if (method === 'HEAD') return void response.end()
  response.write('a,b\n1,')
  setTimeout(() => response.destroy(), 20)
}
