// Groups within groups by the name of their hierarchy, against SQL of the table and against the columns by name.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { writeFiles } from '../../support/golden.ts'
import { serveSnapshots } from '../../support/odata-service.ts'
import { runProject } from '../../support/pipeline-project.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

const MODEL = `-- @expose id
-- @measure revenue: sum(amount)
-- @measure cities: count(DISTINCT city)
-- @hierarchy geo: country > region > city
-- @hierarchy shop: id parent above
-- @hierarchy by_kind: kind>country
SELECT i AS id, nullif(i // 4, 0) AS above, nullif('c' || (i * 7 % 4), 'c3') AS country,
  'r' || (i % 3) AS region, nullif('t' || (i * 5 % 7), 't2') AS city, (i % 5)::VARCHAR AS kind,
  CASE WHEN i % 11 > 0 THEN (i * 37 % 1000)::DECIMAL(18,2) / 4 END::DECIMAL(18,2) AS amount, [i] AS list
FROM range(600) r(i)
`

const levels: Readonly<Record<string, readonly string[]>> = {
  geo: ['country', 'region', 'city'],
  by_kind: ['kind', 'country'],
}

async function serveStores(resources: Resources) {
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'levels' }))
  await writeFiles(dir, [{ path: 'models/core/stores.sql', content: Buffer.from(MODEL) }])
  await runProject(paths)
  const served = await serveSnapshots(resources, paths.snapshots)
  const database = resources.use(await Database.open({ path: paths.database, readOnly: true }))
  const connection = resources.use(await database.connect())
  const ask = async (apply: string) =>
    await served.get(`core_stores?$apply=${encodeURIComponent(apply)}`)
  return { served, connection, ask }
}

const lineOf = (values: readonly unknown[]) =>
  values.map((value) => (value ?? 'null') as number | string).join()

test('rollup by the name of a hierarchy gives the groups of its levels, as SQL and as the columns do', async () => {
  await using resources = new Resources()
  const { ask, connection } = await serveStores(resources)
  const random = seededRandom(4)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  for (let n = 0; n < 24; n++) {
    const name = oneOf(Object.keys(levels))
    const columns = levels[name]!
    const withTotal = random() < 0.5
    const total = withTotal ? '$all,' : ''
    const more = random() < 0.3 ? 'above' : ''
    const [filter, where] = oneOf([
      ['', sql`true`],
      ['filter(amount gt 100)/', sql`amount > 100`],
      ["filter(country ne 'c1')/", sql`country IS DISTINCT FROM 'c1'`],
      ["filter(kind eq 'none')/", sql`kind = 'none'`],
    ] as const)
    const applied = (of: string) =>
      `${filter}groupby((${more === '' ? '' : `${more},`}rollup(${total}${of})),aggregate(revenue,cities,$count as n))`
    const { status, text, json } = await ask(applied(name))
    assert.is(status, 200, text)
    const rows = (json as { value: Record<string, unknown>[] }).value
    const byColumns = await ask(applied(columns.join()))
    assert.equal(rows, (byColumns.json as typeof json).value, applied(name))
    const sets = columns.map((_, i) => columns.slice(0, columns.length - i))
    const groups = [...sets, ...(withTotal ? [[]] : [])].map((set) => [
      ...(more === '' ? [] : [more]),
      ...set,
    ])
    const found: string[] = []
    for (const group of groups) {
      const by = group.length === 0 ? sql.empty : sql` GROUP BY ${sql.idents(group)}`
      const keys = group.length === 0 ? sql.empty : sql`${sql.idents(group)}, `
      const right = await connection.rows(
        sql`SELECT ${keys}sum(amount)::VARCHAR AS revenue, count(DISTINCT city)::INTEGER AS cities, count(*)::INTEGER AS n FROM core.stores WHERE ${where}${by}`,
      )
      for (const row of right)
        found.push(
          lineOf([
            ...group.map((key) => `${key}=${(row[key] as string | null) ?? 'null'}`),
            Number(row['revenue'] ?? -1),
            row['cities'],
            row['n'],
          ]),
        )
    }
    const lines = rows.map((row) =>
      lineOf([
        ...[...(more === '' ? [] : [more]), ...columns]
          .filter((key) => key in row)
          .map((key) => `${key}=${(row[key] as string | null) ?? 'null'}`),
        Number(row['revenue'] ?? -1),
        row['cities'],
        row['n'],
      ]),
    )
    assert.equal(lines.toSorted(), found.toSorted(), applied(name))
  }
})

test('a hierarchy is a name in rollup and nowhere else, and a value with its name comes first', async () => {
  await using resources = new Resources()
  const { ask } = await serveStores(resources)
  const same = async (a: string, b: string) => {
    const [one, other] = [await ask(a), await ask(b)]
    assert.is(one.status, 200, one.text)
    assert.equal(
      (one.json as { value: unknown }).value,
      (other.json as { value: unknown }).value,
      a,
    )
  }
  const total = 'aggregate($count as n)'
  await same(
    `groupby((Rollup( geo ),rollup($all,by_kind)),${total})`,
    `groupby((rollup(country,region,city),rollup($all,kind,country)),${total})`,
  )
  await same(
    `compute(kind as geo)/groupby((rollup($all,geo)),${total})`,
    `compute(kind as geo)/concat(groupby((geo),${total}),${total})`,
  )
  const joined = (name: string) =>
    `join(shop_children as ${name})/groupby((rollup($all,${name})),${total})/top(9)`
  const [own, other] = [await ask(joined('geo')), await ask(joined('below'))]
  assert.is(own.status, 200, own.text)
  assert.is(own.text, other.text.replaceAll('below', 'geo'))
  const refused = async (apply: string, words: RegExp) => {
    const { status, text } = await ask(apply)
    assert.is(status, 400, apply)
    assert.match(text, words)
  }
  await refused(
    `groupby((rollup(kind)),${total})`,
    /rollup takes at least two levels, or a hierarchy, which are: geo, by_kind \(at character 17\)/,
  )
  await refused(`groupby((rollup(shop)),${total})`, /at least two levels/)
  await refused(`groupby((rollup($all,nope)),${total})`, /no property \\"nope\\"/)
  await refused(`groupby((geo),${total})`, /no property \\"geo\\"/)
  await refused(`groupby((rollup(geo,kind)),${total})`, /no property \\"geo\\"/)
  await refused(`groupby((kind),${total})/groupby((rollup(geo)),${total})`, /country/)
})

test('$metadata has it as an annotation of the type, in XML and JSON', async () => {
  await using resources = new Resources()
  const { served } = await serveStores(resources)
  const { text } = await served.get('$metadata?$format=xml')
  const paths = (columns: readonly string[]) =>
    `<Collection>${columns.map((name) => `<PropertyPath>${name}</PropertyPath>`).join('')}</Collection>`
  for (const [name, columns] of Object.entries(levels))
    assert.match(
      text,
      `<Annotation Term="Org.OData.Aggregation.V1.LeveledHierarchy" Qualifier="${name}">${paths(columns)}</Annotation>`,
    )
  const { json } = await served.get('$metadata?$format=json')
  const type = (json as { eider: { core_stores: Record<string, unknown> } }).eider.core_stores
  assert.equal(type['@Org.OData.Aggregation.V1.LeveledHierarchy#geo'], levels['geo'])
  assert.ok(type['@Org.OData.Aggregation.V1.RecursiveHierarchy#shop'])
})

test.run()
