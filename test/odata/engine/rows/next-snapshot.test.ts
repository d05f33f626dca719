// Files for lookups when a new snapshot is taken up: those of sets that it has changed are made anew.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../../src/core/resources.ts'
import { MANIFEST_FILE, parseManifest } from '../../../../src/core/snapshot.ts'
import { sql } from '../../../../src/core/sql.ts'
import { flipBit } from '../../../support/flip-bit.ts'
import { serve, type Served } from '../../../support/odata-service.ts'
import {
  ask,
  AT_ONCE,
  both,
  common,
  fileNames,
  made,
  metric,
  others,
  requireSame,
  table,
  untilMade,
  version,
} from '../../../support/row-files.ts'
import { publish, type Table, writeManifest, writeTable } from '../../../support/snapshot-files.ts'
import { until } from '../../../support/until.ts'

/** Asks for what is no lookup. */
const untilServed = (service: Served, id: string) =>
  until(async () => (await ask(service, {})).headers['eider-snapshot'] === id)

const found = (service: Served) => metric(service, 'row_file_lookups_total')

/** Rows of which the second state has others, with other keys. */
const changing = (state: number): readonly Table[] => [
  table('int', sql`(i + ${sql.value(state * 10)})::INTEGER`, 40),
  table(
    'moment',
    sql`TIMESTAMP '1999-12-31 23:59:50' + to_microseconds(i * ${sql.value(state)} * 500000)`,
    20,
  ),
  {
    model: 'shop.parts',
    key: ['a', 'b'],
    rows: sql`SELECT (i % 7)::INTEGER AS a, '","' || i AS b, ${sql.value(state)} AS state, ${others}
      FROM range(20) AS r(i) ORDER BY a, b`,
  },
]

test('a new snapshot is soon read from files, as the engine writes it', async () => {
  await using resources = new Resources()
  const services = await both(resources, changing(1), { rowFiles: AT_ONCE })
  const { ours, engine } = services
  const sets = (id: number, moment: string) => [
    `shop_int(${id})`,
    `shop_moment(${moment})`,
    `shop_parts(a=1,b='","1')`,
  ]
  await untilMade(ours, sets(15, '2000-01-01T00:00:00Z'))
  await publish(ours.dir, 'second', changing(2))
  await Promise.all([untilServed(ours, 'second'), untilServed(engine, 'second')])
  await until(async () => {
    for (const target of sets(25, '2000-01-01T00:00:00Z')) await requireSame(services, { target })
    return made(ours).length === 6
  })
  const targets = [
    ...Array.from({ length: 40 }, (_, i) => `shop_int(${i + 20})`),
    ...Array.from({ length: 10 }, (_, i) => `shop_moment(2000-01-01T00:00:0${i}Z)`),
    ...Array.from({ length: 20 }, (_, i) => `shop_parts(a=${i % 7},b='","${i}')`),
  ]
  const before = await found(ours)
  for (const target of targets) assert.is((await requireSame(services, { target })).status, 200)
  assert.is(await found(ours), before + targets.length)
  assert.is(await metric(ours, 'row_files'), 3)
  for (const target of ['shop_int(15)', 'shop_int(60)'])
    assert.is((await requireSame(services, { target })).status, 404)
})

test('half of the lookups count for the next rows of a set', async () => {
  for (const [lookups, more] of [
    [100, 1],
    [60, 20],
  ] as const) {
    await using resources = new Resources()
    const ours = await serve(resources, version(0), {
      ...common,
      rowFiles: { lookupsBefore: 50, rowsPerLookupBefore: Infinity },
    })
    for (let i = 0; i < lookups; i++) await ask(ours, { target: `shop_rows(${i})` })
    await until(() => made(ours).length === 1)
    await publish(ours.dir, 'second', version(1))
    await untilServed(ours, 'second')
    for (let i = 1; i < more; i++) await ask(ours, { target: `shop_rows(${i})` })
    if (more > 1) await until(async () => (await fileNames(ours)).length === 0)
    await ask(ours, { target: 'shop_rows(7)' })
    await until(() => made(ours).length === 2)
  }
})

test('a set that is not looked up has no file made, and one that stays as it is keeps its own', async () => {
  await using resources = new Resources()
  const same = table('same', sql`i::INTEGER`)
  const idle = (state: number) => table('idle', sql`(i + ${sql.value(state)})::INTEGER`)
  const tables = [...version(0), same, idle(0)]
  const ours = await serve(resources, tables, { ...common, rowFiles: AT_ONCE })
  await untilMade(ours, ['shop_rows(1)', 'shop_same(1)'])
  const relation = await writeTable(ours.dir, version(1)[0]!)
  const { relations } = parseManifest(await readFile(join(ours.dir, MANIFEST_FILE), 'utf8'))
  await writeManifest(ours.dir, {
    id: 'second',
    publishedAt: new Date(),
    runId: 'run',
    relations: [relation, ...relations.slice(1, 2), await writeTable(ours.dir, idle(1))],
  })
  await untilServed(ours, 'second')
  await until(async () => {
    await ask(ours, { target: 'shop_rows(1)' })
    return made(ours).length === 3
  })
  assert.equal(made(ours).map(String).toSorted(), ['shop.rows', 'shop.rows', 'shop.same'])
  const before = await found(ours)
  for (const target of ['shop_rows(2)', 'shop_same(2)']) await ask(ours, { target })
  assert.is(await found(ours), before + 2)
})

test('damage that is met while a file is made is reported, and the snapshot before is served', async () => {
  await using resources = new Resources()
  const rows = (state: number): Table => ({
    model: 'shop.rows',
    key: ['id'],
    rows: sql`SELECT i AS id, ${sql.value(state)} AS version, 'text ' || hash(i) AS text FROM range(60000) AS r(i)`,
  })
  const ours = await serve(resources, [rows(0)], { ...common, rowFiles: AT_ONCE })
  const relation = await writeTable(ours.dir, rows(1))
  const path = join(ours.dir, relation.file)
  await flipBit(path, Math.floor((await stat(path)).size / 3))
  const publishedAt = new Date(Date.now() + 1000)
  await writeManifest(ours.dir, { id: 'damaged', publishedAt, runId: 'run', relations: [relation] })
  await untilServed(ours, 'damaged')
  await ask(ours, { target: 'shop_rows(7)' })
  await until(() => ours.log.some(({ event }) => event === 'snapshot-refused'))
  const { headers, json } = await ask(ours, { target: 'shop_rows(7)' })
  assert.is(headers['eider-snapshot'], 'first')
  assert.is(json.version, 0)
})

test.run()
