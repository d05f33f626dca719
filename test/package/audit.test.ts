// What CI does with answers of the registry: a program named npm on the path gives them.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

function auditOf(answer: string) {
  const dir = mkdtempSync(join(tmpdir(), 'eider-audit-'))
  try {
    writeFileSync(join(dir, 'answer'), answer)
    writeFileSync(join(dir, 'npm'), `#!/bin/sh\ncat '${join(dir, 'answer')}'\nexit 1\n`)
    chmodSync(join(dir, 'npm'), 0o755)
    const env = { ...process.env, PATH: `${dir}${delimiter}${process.env['PATH']}` }
    const script = join(repository, '.ci', 'audit.js')
    return spawnSync(process.execPath, [script], { env, encoding: 'utf8' })
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const vulnerability = (name: string, severity: string) => ({
  [name]: {
    name,
    severity,
    nodes: [`node_modules/${name}`],
    via: [{ name, severity, title: `a fault of ${name}`, url: 'https://example.org/advisory' }],
  },
})
const reportOf = (...found: readonly object[]) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities: Object.assign({}, ...found) })

test('a grave advisory against a bundled or an installed package fails', () => {
  for (const name of ['yaml', '@oclif/core', '@duckdb/node-bindings'])
    for (const severity of ['high', 'critical']) {
      const { status, stdout } = auditOf(reportOf(vulnerability(name, severity)))
      assert.is(status, 1, `${name}: ${stdout}`)
      assert.match(stdout, `audit: ${severity} ${name}: a fault of ${name} https://example.org`)
    }
})

test('others are listed and do not fail', () => {
  const { status, stdout } = auditOf(
    reportOf(vulnerability('yaml', 'moderate'), vulnerability('prettier', 'critical')),
  )
  assert.is(status, 0)
  assert.match(stdout, 'audit: moderate yaml: a fault of yaml')
  assert.match(stdout, 'audit: critical prettier (development only): a fault of prettier')
  assert.match(stdout, 'audit: 2 advisories, 0 that need a release')
})

test('what merely depends on a package with an advisory is not listed again', () => {
  const dependent = { ...vulnerability('@oclif/core', 'high')['@oclif/core'], via: ['minimatch'] }
  const { status, stdout } = auditOf(reportOf({ '@oclif/core': dependent }))
  assert.is(status, 0)
  assert.match(stdout, 'audit: 0 advisories, 0 that need a release')
})

test('a registry that does not answer is said and fails nothing', () => {
  const refused = JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 })
  for (const [answer, reason] of [
    [refused, '405 Method Not Allowed'],
    ['', 'no answer'],
    ['<html>', 'no answer'],
  ] as const) {
    const { status, stdout } = auditOf(answer)
    assert.is(status, 0)
    assert.is(stdout, `audit: NOT CARRIED OUT: ${reason}\n`)
  }
})

test('CI runs it', () => {
  assert.match(readFileSync(join(repository, '.ci', 'run'), 'utf8'), 'node .ci/audit.js')
})

test.run()
