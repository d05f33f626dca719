import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { browserTests } from './browser.ts'
import { openPage } from './explorer-page.ts'

const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; img-src http:"

const pages: Readonly<Record<string, string>> = {
  '/good': '<h1>Good</h1>',
  '/style': '<h1>Style</h1><p style="color: red">text</p>',
  '/host': '<h1>Host</h1><img alt="x" src="http://127.0.0.1:9/x.png">',
  '/error': '<h1>Error</h1><script>setTimeout(() => { throw new Error("seen") })</script>',
  '/unnamed': '<h1>Unnamed</h1><button></button>',
}

/** Pages that do what the explorer must not do. */
async function servePages() {
  const server = createServer((request, response) => {
    const body = pages[request.url ?? '']
    response.writeHead(body === undefined ? 204 : 200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
    })
    const head = '<html lang="en"><head><title>page</title></head>'
    response.end(
      body && `<!doctype html>${head}<body><div id="page"><main>${body}</main></div></body></html>`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/odata`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const browserTest = browserTests(servePages)

browserTest('the harness sees breaches of the policy, other hosts and errors', async (shared) => {
  const faultsOf = async (path: string) => {
    await using opened = await openPage(shared)
    await opened.visit(path)
    return opened.faults.join('\n')
  }
  assert.is(await faultsOf('/good'), '')
  assert.match(await faultsOf('/style'), /inline style/)
  assert.match(await faultsOf('/host'), /asks http:\/\/127\.0\.0\.1:9\/x\.png/)
  assert.match(await faultsOf('/error'), /seen/)
})

browserTest('the harness sees what axe finds', async (shared) => {
  await using opened = await openPage(shared)
  await opened.visit('/good')
  assert.equal(await opened.axe(), [])
  await opened.visit('/unnamed')
  assert.match((await opened.axe()).join('\n'), /^button-name: <button>/)
})

test.run()
