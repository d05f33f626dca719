// A registry of packages on this machine that has what the checkout has installed, for an installation without a network.

import { execFile } from 'node:child_process'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from './workspace.ts'

interface Registry extends AsyncDisposable {
  readonly url: string
}

/** Tarballs are made in `dir`. */
export async function packageRegistry(dir: string): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, 'http://x').pathname).slice(1)
    const isTarball = path.endsWith('.tgz')
    const name = isTarball ? path.slice(0, -'.tgz'.length) : path
    const home = join(repository, 'node_modules', name)
    if (request.method !== 'GET' || name === '' || !existsSync(join(home, 'package.json')))
      return void response.writeHead(404).end('{}')
    const description = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
      readonly version: string
    }
    if (isTarball) {
      const file = join(dir, `${name.replaceAll('/', '-')}.tgz`)
      void pack(home, file).then(() => createReadStream(file).pipe(response))
      return
    }
    const { version } = description
    const tarball = `http://${request.headers.host}/${name}.tgz`
    const versions = { [version]: { ...description, dist: { tarball } } }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Little compressed: it is large and stays on this machine. */
const pack = (home: string, file: string) =>
  promisify(execFile)('tar', [
    '--use-compress-program=gzip -1',
    '-cf',
    file,
    '--transform=s,^\\.,package,',
    '-C',
    home,
    '.',
  ])
