// The thread that makes the index of a file with rows.
// Alone in its process: it looks at what its process has open.

import { readdirSync, readFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { indexInThread } from '../../../../src/odata/engine/rows/row-file.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const ROWS = 200_000

/** Of the threads of this process. */
function priorities(): readonly number[] {
  return readdirSync('/proc/self/task').flatMap((id) => {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      return [Number(stat.replace(/.*\) /, '').split(' ')[16])]
    } catch {
      return [] // it has ended
    }
  })
}

/** Linux alone has a priority for each thread. */
if (process.platform === 'linux')
  test('it gives way to the threads that answer requests, whose priority stays', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'rows')
    const lines = Array.from({ length: ROWS }, (_, i) => `["${i}"],{"id":${i}}\n`).join('')
    await writeFile(path, lines)
    const own = os.getPriority()
    const before = priorities().filter((value) => value > own).length
    await using file = await open(path)
    const order = { fd: file.fd, rows: ROWS, bytes: lines.length }
    let [isMade, lowered] = [false, 0]
    const made = indexInThread(order, new AbortController().signal).finally(() => (isMade = true))
    for (; !isMade; await setImmediate())
      lowered = Math.max(lowered, priorities().filter((value) => value > own).length - before)
    await made
    assert.is(lowered, own < os.constants.priority.PRIORITY_BELOW_NORMAL ? 1 : 0)
    assert.is(os.getPriority(), own)
  })

test.run()
