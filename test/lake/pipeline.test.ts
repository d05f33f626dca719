// The cases of the pipeline once more, on tables in a lake: the same models, the same rows expected. Each file of them
// runs in a process of its own, told by EIDER_TEST_TARGET where its projects keep their tables.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'

const files: readonly string[] = [
  'build/append',
  'build/merge',
  'build/scd2',
  'build/evolve',
  'build/run-checks',
  'build/build-group',
  'choose',
  'history',
  'odd-names',
  'letter-case',
]

for (const file of files)
  lakeTest(`test/pipeline/${file} on a lake`, async () => {
    const program = fileURLToPath(new URL(`../pipeline/${file}.test.js`, import.meta.url))
    const child = spawn(process.execPath, ['--enable-source-maps', program], {
      env: { ...process.env, EIDER_TEST_TARGET: 'lake' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [said, wrong, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ])
    const [, total, passed] = /Total: +(\d+)\s+Passed: +(\d+)/.exec(said) ?? []
    assert.is(code, 0, `${said}\n${wrong}`)
    assert.ok(Number(total) > 0 && total === passed, said)
  })

test.run()
