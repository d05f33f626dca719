// Packed files of which the end is missing.

import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isCutOff } from '../../../src/compiler/sources/cut-off.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { workspace } from '../../support/workspace.ts'

const CUTS = 60

for (const [ending, compression] of [
  ['gz', 'gzip'],
  ['zst', 'zstd'],
])
  test(`a ${compression} file is whole with all of its bytes, and with none less`, async () => {
    await using space = await workspace({})
    const path = space.path(`rows.csv.${ending}`)
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const rows = sql`SELECT i AS id, hash(i) AS v, repeat('a', 40) AS same FROM range(30000) AS t(i)`
    await connection.run(
      sql`COPY (${rows}) TO ${sql.value(path)} (HEADER, COMPRESSION ${sql.ident(compression!)})`,
    )
    const whole = await readFile(path)
    assert.not(await isCutOff(path))
    const random = seededRandom(7)
    const lengths = Array.from({ length: CUTS }, () => 1 + Math.floor(random() * whole.length))
    for (const length of [...lengths.filter((n) => n < whole.length), whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length))
      assert.ok(await isCutOff(path), `${length} of ${whole.length} bytes`)
    }
    await writeFile(path, Buffer.concat([whole, whole]))
    assert.not(await isCutOff(path))
    await writeFile(path, Buffer.concat([whole, whole.subarray(0, 300)]))
    assert.ok(await isCutOff(path))
    await writeFile(path, 'id,v\n1,2\n')
    assert.not(await isCutOff(path), 'DuckDB says what is no such file')
  })

test('models of a packed file that ends early fail, and the next run reads the whole one', async () => {
  const { gzipSync } = await import('node:zlib')
  const lines = Array.from({ length: 5000 }, (_, i) => `${i},${(i * 7919) % 1000}`)
  const whole = gzipSync(['id,v', ...lines].join('\n'))
  await using space = await workspace({
    'eider.yml':
      "name: cut\nsources:\n  s:\n    tables:\n      one: {file: data/a.csv.gz}\n      all: {file: 'data/*.csv.gz'}\n",
    'models/c/one.sql': 'SELECT count(*) AS n FROM s.one',
    'models/c/every.sql': 'SELECT count(*) AS n FROM s.all',
    'models/c/direct.sql': "SELECT count(*) AS n FROM read_csv('data/*.csv.gz')",
  })
  await space.write('data/a.csv.gz', whole.subarray(0, 4000))
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.is(stderr.match(/data\/a\.csv\.gz ends early, so that rows of it are missing/g)?.length, 3)
  await space.write('data/a.csv.gz', whole)
  await space.ok(['run'])
  const { stdout } = await space.ok([
    'query',
    'FROM c.one UNION ALL FROM c.every UNION ALL FROM c.direct',
    '--json',
  ])
  assert.is(stdout.match(/5000/g)?.length, 3)
})

test.run()
