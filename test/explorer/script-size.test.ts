import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const dir = join(repository, 'dist', 'explorer')

test('the page has at most 250,000 bytes of script, 90,000 compressed', () => {
  const scripts = readdirSync(dir).filter((name) => name.endsWith('.js'))
  const texts = scripts.map((name) => readFileSync(join(dir, name)))
  assert.ok(texts.length > 1)
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
  const bytes = sum(texts.map((text) => text.length))
  const compressed = sum(texts.map((text) => gzipSync(text, { level: 9 }).length))
  assert.ok(bytes <= 250_000, `${bytes} bytes`)
  assert.ok(compressed <= 90_000, `${compressed} bytes compressed`)
})

test.run()
