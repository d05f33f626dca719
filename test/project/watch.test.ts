import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ProjectWatch } from '../../src/project/watch.ts'

const QUIET_MS = 100

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'eider-watch-'))
  return {
    path,
    async write(name: string, text = 'x') {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), text)
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('a burst of changes is one; directories that are made later are seen; other files do not count', async () => {
  await using dir = await directory()
  await dir.write('eider.yml')
  await using watch = await ProjectWatch.open(dir.path, { quietMs: QUIET_MS })
  let calls = 0
  watch.onChange(async () => void calls++)
  // A busy machine tells of a change late; more calls than one for a burst would come within the pause.
  const becomes = async (expected: number) => {
    for (let waits = 0; calls < expected && waits < 50; waits++) await pause(QUIET_MS)
    await pause(6 * QUIET_MS)
    assert.is(calls, expected)
  }
  await dir.write('README.md')
  await dir.write('.eider/buffer/x')
  await dir.write('target/manifest.json')
  await pause(4 * QUIET_MS)
  assert.is(calls, 0)
  for (const name of ['models/raw/a.sql', 'models/raw/b.sql', 'seeds/raw/c.csv', 'macros/m.sql'])
    await dir.write(name)
  await becomes(1)
  await dir.write('eider.yml', 'y')
  await becomes(2)
  await rm(join(dir.path, 'models/raw/b.sql'))
  await becomes(3)
})

test('a file that is touched, or saved as it was, is no change', async () => {
  await using dir = await directory()
  for (const name of ['models/raw/a.sql', 'models/raw/b.sql']) await dir.write(name)
  await using watch = await ProjectWatch.open(dir.path, { quietMs: QUIET_MS })
  const seen: string[][] = []
  watch.onChange(async (paths) => void seen.push([...paths]))
  await utimes(join(dir.path, 'models/raw/a.sql'), new Date(), new Date())
  await dir.write('models/raw/b.sql')
  await mkdir(join(dir.path, 'models/empty'))
  await pause(6 * QUIET_MS)
  assert.equal(seen, [])
  await dir.write('models/raw/b.sql', 'y')
  await pause(6 * QUIET_MS)
  assert.equal(seen, [['models/raw/b.sql']])
})

test('what changes before anyone asks, and while the work goes on, is worked on after', async () => {
  await using dir = await directory()
  await using watch = await ProjectWatch.open(dir.path, { quietMs: QUIET_MS })
  await dir.write('eider.yml')
  await pause(4 * QUIET_MS)
  let [calls, running] = [0, 0]
  watch.onChange(async () => {
    assert.is(++running, 1)
    calls++
    await pause(5 * QUIET_MS)
    running--
  })
  await pause(3 * QUIET_MS)
  assert.is(calls, 1)
  await dir.write('eider.yml', 'y')
  await pause(10 * QUIET_MS)
  assert.is(calls, 2)
})

test.run()
