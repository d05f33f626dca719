import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { settings } from '../../src/project/settings.ts'
import { repository } from '../support/workspace.ts'

const pageOf = (name: string) => readFileSync(join(repository, 'docs', name), 'utf8')
const page = pageOf('collect.md') + pageOf('collect/operating.md')

test('the pages name every setting and variable of the daemon but the ports and the host', () => {
  for (const [name, setting] of Object.entries(settings)) {
    if (!name.startsWith('collect.')) continue
    const variable = 'env' in setting ? setting.env : name
    assert.ok(page.includes(name) || page.includes(variable), name)
  }
})

test('the limits of the pages are those of the code', () => {
  const KiB = 1024
  const rows: readonly [string, string][] = [
    ['bytes waiting for the disk', `${limits.pendingBytes / KiB / KiB} MiB`],
    ['URL, request headers', `${limits.urlBytes / KiB} KiB (414), ${limits.headerBytes / KiB} KiB`],
    [
      'time for a client',
      `${limits.headersTimeoutMs / 1000} s, ${limits.requestTimeoutMs / 1000} s`,
    ],
    [
      'connection without traffic',
      `${limits.socketIdleMs / 1000} s, ${limits.keepAliveTimeoutMs / 1000} s`,
    ],
    ['connections ', String(limits.connections)],
    ['body of a request to the admin port', `${limits.adminBodyBytes / KiB} KiB`],
    ['open requests when', `${limits.shutdownMs / 1000} s`],
    ['Idempotency-Key', `${limits.requestKeyLength} characters`],
    ['nesting of JSON', String(limits.eventDepth)],
  ]
  for (const [what, value] of rows) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${what}`))
    assert.ok(row?.includes(value), `${what}: ${value}, not ${row}`)
  }
})

test.run()
