// The shortcuts of runs.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { shortcuts, withoutLine } from '../support/architecture-pages.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { testShortcuts } from './compare.ts'
import { checkTypesWithout, copyProgram } from './copies.ts'
import { ownTests } from './own-tests.ts'

test('a line that the source does not have, or has twice, is refused', () => {
  const shortcut = { name: 'a', entry: 'src/a.ts', importer: 'src/b.ts', line: 'fast: a(),' }
  assert.is(withoutLine(shortcut, 'x\n  fast: a(),\ny'), 'x\ny')
  for (const text of ['x\ny', 'x\n  fast: a()\ny', 'fast: a(),\n  fast: a(),'])
    assert.throws(() => withoutLine(shortcut, text), /^src\/b\.ts has [02] times: fast: a\(\),$/)
})

test('the tests of each shortcut are there', () => {
  assert.equal(Object.keys(ownTests).toSorted(), shortcuts.map(({ name }) => name).toSorted())
  const files = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' })
  const tests = files.filter((file) => file.endsWith('.test.js'))
  for (const start of Object.values(ownTests).flat())
    assert.ok(
      tests.some((file) => file.startsWith(start)),
      start,
    )
})

test('without all of them, too, types are right', async () => {
  await using directory = await temporaryDirectory()
  await checkTypesWithout(join(directory.path, 'none'), shortcuts)
})

test('the whole program has all shortcuts', async () => {
  await using directory = await temporaryDirectory()
  const { modules } = await copyProgram(join(directory.path, 'whole'), null)
  for (const { entry } of shortcuts) assert.ok(modules.has(entry), entry)
})

testShortcuts('runs')

test.run()
