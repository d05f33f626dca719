import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
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

/** A busy machine tells of a change late; more than is expected would come within the pause at the end. */
async function becomes<Value>(expected: Value, value: () => Value) {
  const isThere = () => JSON.stringify(value()) === JSON.stringify(expected)
  for (let waits = 0; !isThere() && waits < 50; waits++) await pause(QUIET_MS)
  await pause(6 * QUIET_MS)
  assert.equal(value(), expected)
}

/** Of a descriptor that may be closed by now. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('a burst of changes is one; directories that are made later are seen; other files do not count', async () => {
  await using dir = await directory()
  await dir.write('eider.yml')
  // Longer than a busy machine needs between two of the writes below.
  await using watch = await ProjectWatch.open(dir.path, { quietMs: 4 * QUIET_MS })
  let calls = 0
  watch.onChange(async () => void calls++)
  await dir.write('README.md')
  await dir.write('.eider/buffer/x')
  await dir.write('target/manifest.json')
  await pause(8 * QUIET_MS)
  assert.is(calls, 0)
  for (const name of ['models/raw/a.sql', 'models/raw/b.sql', 'seeds/raw/c.csv', 'macros/m.sql'])
    await dir.write(name)
  await becomes(1, () => calls)
  await dir.write('eider.yml', 'y')
  await becomes(2, () => calls)
  await rm(join(dir.path, 'models/raw/b.sql'))
  await becomes(3, () => calls)
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
  await becomes([['models/raw/b.sql']], () => seen)
})

test('files of a directory that another program makes and fills at once are all seen', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `models/raw/${i}.sql`)
  const fill = `
    for (const dir of process.argv.slice(1)) {
      fs.mkdirSync(dir + '/models/raw', { recursive: true })
      for (const name of ${JSON.stringify(names)}) {
        const until = performance.now() + 2 * Math.random()
        while (performance.now() < until);
        fs.writeFileSync(dir + '/' + name, 'x')
      }
    }`
  await using dir = await directory()
  const seen = new Map<string, Set<string>>()
  const watches: ProjectWatch[] = []
  for (let i = 0; i < 20; i++) {
    const project = join(dir.path, `${i}`)
    await mkdir(project)
    const watch = await ProjectWatch.open(project, { quietMs: QUIET_MS })
    const paths = new Set<string>()
    watch.onChange(async (changed) => changed.forEach((name) => paths.add(name)))
    watches.push(watch)
    seen.set(project, paths)
  }
  await once(spawn(process.execPath, ['-e', fill, ...seen.keys()]), 'exit')
  const isSeen = () => [...seen.values()].every((paths) => paths.size === names.length)
  for (let waits = 0; !isSeen() && waits < 50; waits++) await pause(QUIET_MS)
  await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()))
  for (const paths of seen.values()) assert.equal([...paths].toSorted(), names)
})

// Two changes within 50 ms of one another are one event for chokidar, and the second was lost for good.
test('what is saved in a directory that was moved away and back is seen', async () => {
  await using dir = await directory()
  const lives = Array.from({ length: 10 }, async (_, i) => {
    const at = (name: string) => `${i}/${name}`
    for (const name of ['raw/a', 'raw/b', 'mart/c', 'mart/d'])
      await dir.write(at(`models/${name}.sql`))
    await using watch = await ProjectWatch.open(join(dir.path, `${i}`))
    let seen = false
    watch.onChange(async (paths) => {
      seen ||= paths.includes('models/raw/a.sql')
      await pause(Math.random() * QUIET_MS)
    })
    const isSeen = async (round: number, what: string) => {
      for (let waits = 0; !seen && waits < 2000; waits++) await pause(QUIET_MS / 10)
      assert.ok(seen, `project ${i}, round ${round}: ${what}`)
      seen = false
    }
    for (let round = 0; round < 5; round++) {
      await rename(join(dir.path, at('models')), join(dir.path, at('away')))
      if (Math.random() < 0.5) await isSeen(round, 'away')
      await dir.write(at('away/raw/a.sql'), `away ${round}`)
      if (Math.random() < 0.5) await pause(Math.random() * 3 * QUIET_MS)
      await rename(join(dir.path, at('away')), join(dir.path, at('models')))
      await isSeen(round, 'back')
      if (Math.random() < 0.3) await pause(Math.random() * 3 * QUIET_MS)
      await dir.write(at('models/raw/a.sql'), `saved ${round}`)
      await isSeen(round, 'saved')
    }
  })
  await Promise.all(lives)
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
  for (let waits = 0; running === 0 && waits < 50; waits++) await pause(QUIET_MS / 10)
  assert.is(calls, 1)
  await dir.write('eider.yml', 'y')
  await becomes(2, () => calls)
})

test('files in models/ that are no models are not watched, however many there are', async () => {
  await using dir = await directory()
  await dir.write('models/raw/a.sql')
  for (let i = 0; i < 300; i++) await dir.write(`models/logs/${i}.log`)
  const watches = () =>
    readdirSync('/proc/self/fdinfo')
      .map((fd) => textOf(`/proc/self/fdinfo/${fd}`).match(/^inotify /gm)?.length ?? 0)
      .reduce((sum, count) => sum + count, 0)
  const before = process.platform === 'linux' ? watches() : 0
  await using watch = await ProjectWatch.open(dir.path, { quietMs: QUIET_MS })
  if (process.platform === 'linux') {
    const added = watches() - before
    assert.ok(added > 0 && added < 30, `${added} watches`)
  }
  const seen: string[][] = []
  watch.onChange(async (paths) => void seen.push([...paths]))
  await dir.write('models/logs/0.log', 'y')
  await dir.write('models/logs/more.log')
  await becomes([], () => seen)
  await dir.write('models/logs/b.sql')
  await rename(join(dir.path, 'models/logs/1.log'), join(dir.path, 'models/raw/c.sql'))
  const all = () => [...new Set(seen.flat())].toSorted()
  await becomes(['models/logs/b.sql', 'models/raw/c.sql'], all)
})

test.run()
