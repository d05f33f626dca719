import { execFileSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

/** A process whose pool works before it gives way, and that starts a thread after it. */
const script = `
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { giveWay } from ${JSON.stringify(new URL('../../src/files/priority.js', import.meta.url).href)}
await readFile('/proc/self/stat')
giveWay()
const worker = new Worker('require("node:worker_threads").parentPort.once("message", () => {})', { eval: true, execArgv: [] })
await new Promise((resolve) => worker.once('online', resolve))
const fields = readdirSync('/proc/self/task').map((id) =>
  readFileSync('/proc/self/task/' + id + '/stat', 'utf8').replace(/.*\\) /, '').split(' '))
console.log(JSON.stringify(fields.map((field) => Number(field[16]))))
worker.postMessage('end')
`

/** Linux alone has a priority for each thread. */
if (process.platform === 'linux')
  test('every thread gives way, also one that worked before and one that comes later', () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script])
    const nice = JSON.parse(printed.toString('utf8')) as number[]
    assert.ok(nice.length > 5, String(nice))
    assert.ok(
      nice.every((value) => value >= 10),
      String(nice),
    )
  })

test.run()
