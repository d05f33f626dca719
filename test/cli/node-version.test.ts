// A Node that is too old is told in one sentence, before anything is loaded that it cannot read.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const { engines } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string }
}
const needed = engines.node.replace('>=', '')

function startedOn(version: string) {
  const pretence = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
  const file = join(repository, 'bin', 'run.js')
  const script = `${pretence}; process.argv.splice(1, 0, 'eider'); require(${JSON.stringify(file)})`
  return spawnSync(process.execPath, ['-e', script, '--', '--version'], { encoding: 'utf8' })
}

test('an older version is refused with the one that is needed', () => {
  for (const version of ['12.22.12', '18.20.8', '20.18.3']) {
    const { status, stdout, stderr } = startedOn(version)
    assert.is(status, 3, version)
    assert.is(stdout, '')
    assert.match(
      stderr,
      `error: eider needs Node ${needed} or later, and this is ${version}\nhint: `,
    )
    assert.is(stderr.trim().split('\n').length, 2)
  }
})

test('the oldest version that is promised is not refused, and later ones are not', () => {
  for (const version of [`${needed}.0`, '22.0.0', '30.1.0']) {
    const { status, stdout, stderr } = startedOn(version)
    assert.is(status, 0, `${version}: ${stderr}`)
    assert.match(stdout, /^eider\/\d/)
  }
})

test('what runs before the refusal is JavaScript of Node 12', () => {
  for (const file of ['run.js', 'node-version.js']) {
    const text = readFileSync(join(repository, 'bin', file), 'utf8')
    const newer = /\?\?|\?\.[a-z([]|\|\|=|&&=|#[a-z]\w*[ (;=]|^\s*await |\.at\(|hasOwn\(/m.exec(
      text,
    )
    assert.is(newer?.[0], undefined, file)
  }
})

test.run()
