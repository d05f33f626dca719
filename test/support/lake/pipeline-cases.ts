// The cases of the pipeline once more, on tables in a lake: the same models, the same rows expected. They run in a
// process of their own, told by EIDER_TEST_TARGET where their projects keep their tables.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { lakeTest } from './lake-test.ts'

/** `file`: a test in test/pipeline, such as `build/merge`. */
export function pipelineCases(file: string): void {
  lakeTest(`test/pipeline/${file} on a lake`, async () => {
    const program = fileURLToPath(new URL(`../../pipeline/${file}.test.js`, import.meta.url))
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
}
