// Rows in files for lookups: they are right whatever happens to snapshots and files, and there are only so many.

import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../../src/core/resources.ts'
import { MANIFEST_FILE, parseManifest } from '../../../../src/core/snapshot.ts'
import { sql } from '../../../../src/core/sql.ts'
import { serve } from '../../../support/odata-service.ts'
import {
  ask,
  AT_ONCE,
  both,
  common,
  fileNames,
  made,
  metric,
  requireSame,
  table,
  untilMade,
  version,
} from '../../../support/row-files.ts'
import { publish, writeManifest } from '../../../support/snapshot-files.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'
import { until } from '../../../support/until.ts'

test('rows are right while the file is made', async () => {
  await using resources = new Resources()
  const big = table('int', sql`i::INTEGER`, 20_000)
  const services = await both(resources, [big])
  let before = 0
  await until(
    async () => {
      before++
      await requireSame(services, { target: `shop_int(${(before * 7919) % 20_000})` })
      return await metric(services.ours, 'row_file_lookups_total')
    },
    (count) => count >= 3,
  )
  assert.ok(before > 4, `${before}`)
})

test('while snapshots are swapped each row is that of the snapshot that the answer names', async () => {
  await using resources = new Resources()
  const ours = await serve(resources, version(0), { ...common, rowFiles: AT_ONCE })
  let isOver = false
  let seen = 0
  const client = async (from: number) => {
    for (let i = from; !isOver; i += 16) {
      const { status, headers, json } = await ask(ours, { target: `shop_rows(${i % 2000})` })
      const { 'eider-snapshot': snapshot } = headers
      const { id, version: number } = json as { id: number; version: number }
      const of = snapshot === 'first' ? 0 : Number(snapshot)
      if (status !== 200 || id !== i % 2000 || number !== of)
        throw new Error(`${status} ${snapshot} ${number}`)
      seen = Math.max(seen, of)
    }
  }
  const clients = [0, 1, 2, 3].map(client)
  for (let number = 1; number <= 6; number++) {
    await until(() => made(ours).length >= number)
    await publish(ours.dir, String(number), version(number))
    await until(() => seen === number)
  }
  await until(() => made(ours).length === 7)
  isOver = true
  await Promise.all(clients)
  await until(async () => (await fileNames(ours)).length === 1)
})

test('a set that a new snapshot has unchanged keeps its file', async () => {
  await using resources = new Resources()
  const ours = await serve(resources, version(0), { ...common, rowFiles: AT_ONCE })
  await untilMade(ours, ['shop_rows(1)'])
  const manifest = parseManifest(await readFile(join(ours.dir, MANIFEST_FILE), 'utf8'))
  await writeManifest(ours.dir, { ...manifest, id: 'second' })
  const snapshotOf = async () =>
    (await ask(ours, { target: 'shop_rows(2)' })).headers['eider-snapshot']
  await until(snapshotOf, (id) => id === 'second')
  const before = await metric(ours, 'row_file_lookups_total')
  await until(async () => {
    await ask(ours, { target: 'shop_rows(3)' })
    return (await metric(ours, 'row_file_lookups_total')) > before
  })
  assert.is(made(ours).length, 1)
})

const harms: readonly (readonly [string, (path: string) => Promise<void>])[] = [
  ['removed', (path) => rm(path)],
  ['cut to nothing', (path) => truncate(path, 0)],
  ['cut in the middle', async (path) => truncate(path, (await readFile(path)).length / 2)],
  ['longer', (path) => appendFile(path, '["7"],{"id":7,"version":99}\n')],
  [
    'overwritten with other rows',
    async (path) => {
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replaceAll('"version":0', '"version":9'))
    },
  ],
  [
    'overwritten with rows of other keys',
    async (path) => {
      const lines = (await readFile(path, 'utf8')).split('\n')
      const shifted = lines.map((line) =>
        line.replace(/"id":(\d)/, (_, digit) => `"id":${9 - Number(digit)}`),
      )
      await writeFile(path, shifted.join('\n'))
    },
  ],
]

for (const [what, harm] of harms)
  test(`a file that somebody has ${what} gives no wrong row`, async () => {
    await using resources = new Resources()
    const services = await both(resources, version(0))
    await untilMade(services.ours, ['shop_rows(1)'])
    const [path] = await fileNames(services.ours)
    await harm(path!)
    for (const id of [7, 5, 1999, 0, 1000, 2000]) {
      const { status } = await requireSame(services, { target: `shop_rows(${id})` })
      assert.is(status, id < 2000 ? 200 : 404)
    }
  })

test('there are only so many files, and what was used last stays', async () => {
  await using resources = new Resources()
  const tables = ['a', 'b', 'c', 'd'].map((name) => table(name, sql`i::INTEGER`))
  const services = await both(resources, tables, { rowFiles: { ...AT_ONCE, files: 2 } })
  for (const { model } of tables)
    await until(async () => {
      await requireSame(services, { target: `${model.replace('.', '_')}(3)` })
      return made(services.ours).includes(model)
    })
  assert.is(await metric(services.ours, 'row_files'), 2)
  await until(async () => (await fileNames(services.ours)).length === 2)
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const set of ['shop_c', 'shop_d']) await requireSame(services, { target: `${set}(4)` })
  assert.is(await metric(services.ours, 'row_file_lookups_total'), before + 2)
})

test('all rows together are bounded, and so are their bytes', async () => {
  for (const bound of [{ rows: 60 }, { bytes: 1 }]) {
    await using resources = new Resources()
    const tables = ['a', 'b'].map((name) => table(name, sql`i::INTEGER`))
    const services = await both(resources, tables, { rowFiles: { ...AT_ONCE, ...bound } })
    for (const { model } of tables)
      await until(async () => {
        await requireSame(services, { target: `${model.replace('.', '_')}(3)` })
        return made(services.ours).includes(model)
      })
    assert.is(await metric(services.ours, 'row_files'), 1)
  }
})

test('a few lookups make no file, and a set larger than all files together has none', async () => {
  await using resources = new Resources()
  const tables = [...version(0), table('int', sql`i::INTEGER`, 60)]
  const ours = await serve(resources, tables, {
    ...common,
    rowFiles: { lookupsBefore: 50, rows: 1000 },
  })
  for (let i = 0; i < 49; i++) await ask(ours, { target: `shop_int(${i})` })
  assert.is(made(ours).length, 0)
  for (let i = 0; i < 200; i++) await ask(ours, { target: `shop_rows(${i})` })
  await untilMade(ours, ['shop_int(1)'])
  // Its line follows when it is known that the rows have not changed meanwhile.
  await until(() => made(ours).length > 0)
  assert.equal(made(ours), ['shop.int'])
})

test('processes that answer together have the rows of one', async () => {
  await using resources = new Resources()
  const tables = [table('small', sql`i::INTEGER`, 20), table('large', sql`i::INTEGER`, 40)]
  const rowFiles = { ...AT_ONCE, rows: 78 }
  const alone = await serve(resources, tables, { ...common, rowFiles })
  await untilMade(alone, ['shop_small(7)', 'shop_large(7)'])
  const oneOfTwo = await serve(resources, tables, { ...common, rowFiles, processes: 2 })
  await untilMade(oneOfTwo, ['shop_large(7)', 'shop_small(7)'], 1)
  assert.equal(made(oneOfTwo), ['shop.small'])
})

test('a service that ends while it makes a file leaves nothing behind', async () => {
  await using outer = new Resources()
  const { path } = outer.use(await temporaryDirectory())
  {
    await using resources = new Resources()
    const ours = await serve(resources, [table('int', sql`i::INTEGER`, 100_000)], {
      ...common,
      rowFiles: AT_ONCE,
      tempDir: path,
    })
    await until(async () => {
      await ask(ours, { target: 'shop_int(1)' })
      return (await readdir(path, { recursive: true })).some((name) => /answer-/.test(name))
    })
  }
  assert.equal(await readdir(path), [])
})

test.run()
