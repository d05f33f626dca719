import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const dir = join(repository, 'dist', 'explorer')
const KB = 1_024

test('the page has at most 250 KB of script, 90 KB compressed', () => {
  const scripts = readdirSync(dir).filter((name) => name.endsWith('.js'))
  const texts = scripts.map((name) => readFileSync(join(dir, name)))
  assert.ok(texts.length > 1)
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
  assert.ok(sum(texts.map((text) => text.length)) <= 250 * KB)
  assert.ok(sum(texts.map((text) => gzipSync(text, { level: 9 }).length)) <= 90 * KB)
})

test.run()
