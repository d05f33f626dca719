// What has changed of a set is written apart (src/store/files/continued.ts). Random histories of models of each kind that keeps
// its rows are published so, and every answer is compared with that of a service over the same states written whole.
// Alone in its process: it lowers a limit of the program.

import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import type { PublishedRelation, Snapshot } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { textOf } from '../../src/duckdb/values.ts'
import { writePublished } from '../../src/store/files/published.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { writeSnapshot } from '../../src/store/files/snapshot-directory.ts'
import { filePastStates } from '../../src/store/files/past-states.ts'
import { apartEarly } from '../support/apart-early.ts'
import {
  changeSource,
  FILES,
  FIRST,
  manifestOf,
  randomChange,
  requireRows,
  ROWS,
} from '../support/apart-project.ts'
import { holdDatabase } from '../support/hold-database.ts'
import { type Answer, type Served, serveSnapshots } from '../support/odata-service.ts'
import { pathsOf } from '../support/run-defaults.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { workspace } from '../support/workspace.ts'

/** The same state in another directory, each file written whole. */
async function writeWhole(from: string, to: string, snapshot: Snapshot): Promise<void> {
  await mkdir(to, { recursive: true })
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const relations: PublishedRelation[] = []
  for (const { apart: _, ...relation } of snapshot.relations) {
    const { file } = relation
    if (!(await readdir(to)).includes(file)) {
      await connection.run(sql`ATTACH ${sql.value(`${from}/${file}`)} AS one (READ_ONLY)`)
      const names = sql.idents(relation.columns.map(({ name }) => name))
      const table = sql.ident(...fileRows.tableOf('one'))
      await writePublished(
        to,
        connection,
        file,
        sql`SELECT ${names} FROM ${table} ORDER BY ${sql.idents(relation.key)}`,
      )
      await connection.run(sql`DETACH one`)
    }
    relations.push({ ...relation, bytes: (await stat(`${to}/${file}`)).size })
  }
  await writeSnapshot(to, { ...snapshot, relations })
}

const space = (text: string) => text.replaceAll(' ', '%20')
const K = ROWS

const REQUESTS: readonly string[] = [
  '$metadata',
  'mart_merged(4)',
  `mart_merged(${K})`,
  'mart_merged(5)',
  `mart_merged(${K + 1})`,
  'mart_merged(id=8)?$select=name,price',
  'mart_merged(8)/name',
  'mart_merged(8)/name/$value',
  `mart_pairs(grp=7,code='c7')`,
  'mart_merged?$top=5',
  'mart_merged?$top=50&$skip=60',
  `mart_merged?$top=20&$skip=${K - 10}`,
  'mart_merged?$top=5000',
  `mart_merged?$filter=id ge ${K} and id le ${K + 2000}`,
  `mart_merged?$filter=name eq 'between'&$count=true`,
  'mart_merged?$filter=name eq null&$top=30&$count=true',
  `mart_merged?$filter=startswith(name,'new')&$orderby=price desc&$top=10`,
  'mart_merged?$orderby=id desc&$top=30',
  'mart_merged?$orderby=name,id desc&$top=30&$skip=5',
  'mart_merged?$orderby=price&$top=3&$select=id,price',
  `mart_merged?$filter=id in (2,4,5,7,9,${K - 4_999})`,
  'mart_merged/$count',
  'mart_mirrored/$count',
  `mart_mirrored/$count?$filter=price gt 50`,
  `mart_merged?$search=between&$top=10`,
  'mart_merged?$apply=aggregate($count as n,price with sum as total,name with countdistinct as names)',
  'mart_merged?$apply=groupby((flag),aggregate($count as n,price with max as top))&$orderby=flag',
  'mart_merged?$apply=filter(price gt 90)/groupby((name),aggregate($count as n))&$orderby=n desc,name&$top=7',
  'mart_merged?$apply=topcount(5,price)',
  'mart_merged?$compute=price mul 2 as double&$filter=double gt 100&$top=10&$select=id,double',
  `mart_merged?$filter=year(moment) eq 2024 and hour(moment) eq 3&$top=10`,
  'mart_merged?$top=400&$format=csv',
  'mart_mirrored?$select=id,name&$format=csv',
  'mart_pairs?$top=40&$skip=200',
  'mart_pairs?$orderby=code desc&$top=10',
  `mart_pairs?$filter=grp eq 12`,
  'mart_versions?$top=50&$skip=100',
  'mart_versions?$filter=is_current eq false&$top=100&$select=id,name,price,is_current',
  'mart_versions/$count?$filter=is_current eq true',
  'mart_added?$orderby=id desc&$top=40',
  `mart_added?$filter=n ge ${K - 20}`,
  `mart_parts?$top=30&$skip=${K - 20}`,
  'mart_parts/$count',
  `mart_parts?$filter=id eq 7&$select=id`,
]

const bodyOf = ({ status, text }: Answer, { url }: Served) =>
  `${status} ${text.replaceAll(url, 'URL').replaceAll(new URL(url).host, 'HOST')}`

async function sameAnswers(one: Served, other: Served, requests: readonly string[]) {
  for (const request of requests) {
    const target = space(request)
    const [a, b] = await Promise.all([one, other].map(async (served) => served.get(target)))
    assert.equal(bodyOf(a!, one), bodyOf(b!, other), request)
    assert.ok(a!.status < 500, `${request}: ${a!.text}`)
  }
}

/** All pages from the first on, by the links of the service. */
async function samePages(one: Served, other: Served, request: string, pages: number) {
  let links = [space(request), space(request)]
  for (let page = 0; page < pages; page++) {
    const prefer = { Prefer: 'odata.maxpagesize=700' }
    const a = await one.get(links[0]!, prefer)
    const b = await other.get(links[1]!, prefer)
    assert.equal(a.json.value, b.json.value, `${request}, page ${page}`)
    const next = [a, b].map(({ json }) => json['@odata.nextLink'] as string | undefined)
    assert.equal(next[0] === undefined, next[1] === undefined)
    if (next[0] === undefined) return
    links = [next[0].slice(one.url.length + 1), next[1]!.slice(other.url.length + 1)]
  }
}

const deltaLink = async (served: Served, set: string): Promise<string> => {
  const target = space(`${set}?$filter=id lt 1000000&$select=id,name,price`)
  let answer = await served.get(target, { Prefer: 'odata.track-changes' })
  for (
    let next = answer.json['@odata.nextLink'];
    next !== undefined;
    next = answer.json['@odata.nextLink']
  )
    answer = await served.get(String(next).slice(served.url.length + 1))
  return String(answer.json['@odata.deltaLink']).slice(served.url.length + 1)
}

async function until(served: Served, id: string): Promise<void> {
  while ((await served.get('mart_merged/$count')).headers['eider-snapshot'] !== id) await sleep(50)
}

for (const seed of [1])
  test(`history ${seed}: answers from sets with rows apart are those of whole ones`, async () => {
    const random = seededRandom(seed)
    await using resources = new Resources()
    const project = resources.use(await workspace(FILES))
    const dir = project.path('.eider/snapshots')
    const whole = project.path('whole/snapshots')
    await changeSource(project, FIRST)
    await project.ok(['run'], { timeoutMs: 300_000, env: apartEarly })
    await writeWhole(dir, whole, await manifestOf(dir))
    const apart = await serveSnapshots(resources, dir, { linkSecret: '0'.repeat(64) })
    const other = await serveSnapshots(resources, whole, { linkSecret: '0'.repeat(64) })
    const continued = new Map<string, number>()
    const links: [apart: string, whole: string][] = []
    for (let round = 0; round < 4; round++) {
      for (const set of ['mart_merged', 'mart_mirrored', 'mart_versions'])
        links.push([await deltaLink(apart, set), await deltaLink(other, set)])
      await changeSource(project, randomChange(random))
      await project.ok(['run'], { timeoutMs: 300_000, env: apartEarly })
      const snapshot = await manifestOf(dir)
      await requireRows(project, snapshot)
      await writeWhole(dir, whole, snapshot)
      await Promise.all([until(apart, snapshot.id), until(other, snapshot.id)])
      await sameAnswers(apart, other, REQUESTS)
      await samePages(apart, other, 'mart_merged?$select=id,name', 4)
      await samePages(apart, other, `mart_pairs?$filter=grp gt 100&$select=code`, 3)
      await samePages(apart, other, 'mart_versions?$orderby=name,id desc&$select=id,name', 3)
      for (const [a, b] of links) {
        const [one, two] = await Promise.all([apart.get(a), other.get(b)])
        assert.equal(one.json.value, two.json.value, a)
        assert.ok(one.json.value?.length > 0 || round > 0, one.text)
      }
      for (const { model, apart: few } of snapshot.relations)
        if (few !== undefined && few.rows > 0) continued.set(model, few.changes)
    }
    // Else nothing of the above was tried.
    assert.equal([...continued.keys()].toSorted(), [
      'mart.added',
      'mart.merged',
      'mart.mirrored',
      'mart.pairs',
      'mart.parts',
      'mart.versions',
    ])
  })

test('whoever needs no order of rows apart sorts none', async () => {
  await using project = await workspace({
    'eider.yml': FILES['eider.yml']!,
    'models/mart/merged.sql': FILES['models/mart/merged.sql']!,
  })
  const dir = project.path('.eider/snapshots')
  for (const change of [FIRST, `UPDATE source SET name = 'new' WHERE n = 7`]) {
    await changeSource(project, change)
    await project.ok(['run'], { timeoutMs: 300_000, env: apartEarly })
  }
  const { relations } = await manifestOf(dir)
  assert.is(relations[0]!.apart?.rows, 1)

  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  await connection.driver.run(await readFile(`${dir}/current.sql`, 'utf8'))
  const past = await filePastStates(pathsOf(project.dir)).attach(connection, relations)
  const asked = [sql`FROM mart.merged`, past.get(relations[0]!.model)!]
  for (const rows of asked) {
    const plan = await connection.rows(sql`EXPLAIN SELECT count(name) FROM (${rows})`)
    assert.not.match(textOf(plan[0]!['explain_value']), 'ORDER_BY', rows.inline())
  }

  const views = `SELECT sql FROM duckdb_views() WHERE view_name = 'merged'`
  await using _held = await holdDatabase(project.path('.eider/warehouse.duckdb'))
  const { stdout } = await project.ok(['query', '--json', views])
  assert.match(stdout, /rows_in_any_order/)
})

test.run()
