import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const example = join(repository, 'example-project')

async function dataFiles(dir: string): Promise<ReadonlyMap<string, string>> {
  const paths = await readdir(dir, { recursive: true })
  const data = paths.filter((path) => /^(events|seeds)\/.+\.(csv|ndjson)$/.test(path)).toSorted()
  const texts = data.map(async (path) => [path, await readFile(join(dir, path), 'utf8')] as const)
  return new Map(await Promise.all(texts))
}

test('make-data.js writes the committed data byte for byte', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-example-'))
  try {
    // The script is an ES module by the package.json of the repository, which a copy does not have.
    await copyFile(join(example, 'make-data.js'), join(dir, 'make-data.mjs'))
    await promisify(execFile)(process.execPath, [join(dir, 'make-data.mjs')])
    const made = await dataFiles(dir)
    const committed = await dataFiles(example)
    assert.is(committed.size, 4)
    assert.equal([...made.keys()], [...committed.keys()])
    for (const [path, text] of committed) assert.ok(made.get(path) === text, `${path} differs`)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

test('the events repeat orders, so that merge matters', async () => {
  const text = await readFile(join(example, 'events', 'raw.orders.ndjson'), 'utf8')
  const orders = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { order_id: number })
  assert.ok(orders.length > 2 * new Set(orders.map(({ order_id }) => order_id)).size)
})

test.run()
