// The requests that profiles and charts make, answered by the real service: every type, and names that mean something
// else in an expression.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { filledBins } from '../../../../src/explorer/page/chart/steps.ts'
import type { TypedColumn } from '../../../../src/explorer/page/model/schema.ts'
import {
  boundsRequest,
  chartRequest,
  type Grouping,
} from '../../../../src/explorer/page/chart/chart-data.ts'
import { type ChartState, readChartState } from '../../../../src/explorer/page/chart/chart-state.ts'
import {
  countsRequest,
  pictureRequest,
  readCounts,
} from '../../../../src/explorer/page/profile/profile-requests.ts'
import { testsSharing } from '../../../support/shared.ts'
import { workspace } from '../../../support/workspace.ts'

const models = {
  'eider.yml': 'name: odd\n',
  'models/t/odd.sql': `-- @expose id
SELECT
  i::BIGINT AS id,
  (i % 7)::INTEGER AS "and",
  (i % 5 - 2)::BIGINT AS "null",
  (i * 1.37 - 50)::DECIMAL(12,2) AS rows,
  CASE WHEN i % 10 = 0 THEN 'NaN'::DOUBLE WHEN i % 11 = 0 THEN 'inf'::DOUBLE ELSE i / 3.0 END AS d,
  'NaN'::FLOAT AS nan,
  CASE WHEN i % 3 = 0 THEN NULL WHEN i = 1 THEN '' ELSE chr((97 + i % 26)::INTEGER) END AS "größe",
  TIMESTAMP '2024-01-01' + INTERVAL (i) DAY AS ts,
  DATE '1999-01-01' + (i * 30)::INTEGER AS dt,
  CASE WHEN i % 4 > 0 THEN i % 2 = 0 END AS bo,
  range(i % 4) AS list,
  {'city': 'x' || i % 3, 'zip': i} AS adr,
  repeat('x', 2000) || i % 50 AS long,
  uuid() AS g, 'ab'::BLOB AS bl, INTERVAL (i % 5) MINUTE AS dur,
  TIME '08:00:00' + INTERVAL (i % 3) HOUR AS tod,
  (i % 30)::INTEGER AS other_id,
  i % 4 AS n, i % 9 AS bin, i % 2 AS value, NULL::INTEGER AS nothing,
  (i * 100000000000000000000)::DECIMAL(38,0) AS huge
FROM range(1, 301) AS r(i)`,
  'models/t/other.sql': `-- @expose other_id
SELECT i::INTEGER AS other_id, 'c' || i % 4 AS country, DATE '2020-01-01' + i::INTEGER AS since
FROM range(0, 25) r(i)`,
}

type Row = Readonly<Record<string, unknown>>

async function serveOdd() {
  const space = await workspace(models)
  await space.ok(['run'])
  const { url } = await space.start(['serve', '--port', '0', '--quiet'])
  const ask = async (apply: string): Promise<readonly Row[]> => {
    const response = await fetch(`${url}/t_odd?$apply=${encodeURIComponent(apply)}`, {
      headers: { Accept: 'application/json;IEEE754Compatible=true' },
    })
    const body = (await response.json()) as { value: readonly Row[] }
    assert.is(response.status, 200, `${apply}\n${JSON.stringify(body)}`)
    return body.value
  }
  return { ask, [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() as Promise<void> }
}

const column = (name: string, edm: string, isList = false): TypedColumn => ({
  name,
  edm: `Edm.${edm}`,
  isList,
  scale: edm === 'Decimal' ? 2 : undefined,
})

const columns = [
  column('id', 'Int64'),
  column('and', 'Int32'),
  column('null', 'Int64'),
  column('rows', 'Decimal'),
  column('d', 'Double'),
  column('nan', 'Single'),
  column('größe', 'String'),
  column('ts', 'DateTimeOffset'),
  column('dt', 'Date'),
  column('bo', 'Boolean'),
  column('list', 'Int64', true),
  column('adr', 'Untyped'),
  column('long', 'String'),
  column('g', 'Guid'),
  column('bl', 'Binary'),
  column('dur', 'Duration'),
  column('tod', 'TimeOfDay'),
  column('n', 'Int64'),
  column('bin', 'Int64'),
  column('value', 'Int64'),
  column('nothing', 'Int32'),
  { ...column('huge', 'Decimal'), scale: 0 },
]
const named = (name: string) => columns.find((one) => one.name === name)!
const names = [...columns.map(({ name }) => name), 'other_id', 'other']

const serviceTest = testsSharing(serveOdd)

serviceTest('each type has a profile, and its pictures account for every row', async ({ ask }) => {
  const shown: Record<string, string> = {}
  for (const [i, one] of columns.entries()) {
    const filter = i % 2 === 0 ? null : "id gt 10 and größe ne 'a'"
    const context = { names, filter }
    const answer = await ask(countsRequest(one, context))
    let counts = readCounts(answer)
    const finite = answer.find((row) => 'finite' in row)?.['finite']
    if (finite !== undefined) counts = { ...counts, filled: Number(finite) }
    const request = pictureRequest(one, counts, context)
    shown[one.name] = request.shows === 'nothing' ? request.why : request.shows
    if (request.shows === 'nothing') continue
    const picture = request.read(await ask(request.apply))
    const total = picture.bars.reduce((sum, { rows }) => sum + rows, 0)
    const isWhole = request.shows === 'bins' || request.shows === 'times'
    const expected = isWhole ? counts.filled : counts.rows
    if (one.name !== 'größe') assert.is(total, expected, `${one.name}: ${picture.sentence}`)
  }
  assert.equal(shown, {
    id: 'bins',
    and: 'bins',
    null: 'bins',
    rows: 'bins',
    d: 'bins',
    nan: 'no values',
    größe: 'frequent',
    ts: 'times',
    dt: 'times',
    bo: 'shares',
    list: 'lengths',
    adr: 'no picture of this type',
    long: 'frequent',
    g: 'every value once',
    bl: 'no picture of this type',
    dur: 'frequent',
    tod: 'frequent',
    n: 'bins',
    bin: 'bins',
    value: 'bins',
    nothing: 'no values',
    huge: 'bins',
  })
})

serviceTest('counts, ends and means are those of the column', async ({ ask }) => {
  const counts = async (name: string) =>
    readCounts(await ask(countsRequest(named(name), { names, filter: null })))
  assert.equal(await counts('rows'), {
    rows: 300,
    filled: 300,
    different: 300,
    least: '-48.63',
    greatest: '361.00',
    mean: '156.185000000000',
    longest: null,
  })
  const text = await counts('größe')
  assert.equal([text.filled, text.least, text.longest], [200, '', 1])
  const long = await counts('long')
  assert.equal([long.longest, String(long.least).length], [2002, 80])
  const bytes = await counts('bl')
  assert.equal([bytes.filled, bytes.different, bytes.least], [300, 1, null])
})

serviceTest('what people read first says the values', async ({ ask }) => {
  const sentence = async (name: string) => {
    const one = named(name)
    const context = { names, filter: null }
    const counts = readCounts(await ask(countsRequest(one, context)))
    const request = pictureRequest(one, counts, context)
    assert.ok(request.shows !== 'nothing')
    return request.read(await ask(request.apply)).sentence
  }
  assert.is(await sentence('bo'), 'Values of bo: null 75, false 150, true 75')
  assert.is(await sentence('list'), 'Lengths of list, 0 items to 3 items; most at 0 items: 75 rows')
  assert.match(await sentence('größe'), /^Most frequent values of größe: null 100, /)
  assert.match(await sentence('ts'), /^Rows by \w+ of ts, /)
})

const chart = (query: string, x: string, grouping: Grouping) => {
  const state: ChartState = readChartState(new URLSearchParams(query))
  const ofX = x.includes('/') ? column(x, x.endsWith('since') ? 'Date' : 'String') : named(x)
  return chartRequest({ ...state, x }, grouping, { x: ofX, names })
}

serviceTest('charts over time are counted by the service in every unit', async ({ ask }) => {
  for (const x of ['ts', 'dt', 'other/since'])
    for (const unit of ['day', 'week', 'month', 'quarter', 'year'] as const) {
      const { apply, read } = chart('', x, { by: 'time', unit })
      const rows = read(await ask(apply))
      assert.is(
        rows.reduce((sum, { value }) => sum + Number(value), 0),
        300,
        `${x} by ${unit}`,
      )
      assert.ok(rows.every(({ group }) => group === null || Number.isInteger(group)))
    }
  const hours = chart('', 'ts', { by: 'time', unit: 'hour' })
  assert.is(hours.read(await ask(hours.apply)).length, 300)
})

serviceTest('the greatest groups come with what all together come to', async ({ ask }) => {
  const { apply, read, total } = chart('y=rows&first=3', 'größe', { by: 'value' })
  const rows = await ask(apply)
  assert.is(read(rows).length, 3)
  const whole = total(rows)!
  const all = readCounts(await ask('aggregate(rows with sum as rows)')).rows
  assert.is(Number(whole.value), all)
  assert.is(whole.groups, 28)
})

serviceTest('every method, colour and filter is understood', async ({ ask }) => {
  for (const method of ['sum', 'average', 'min', 'max', 'count', 'countdistinct'])
    for (const [y, x] of [
      ['null', 'größe'],
      ['value', 'other/country'],
      ['d', 'null'],
    ] as const)
      for (const by of ['', 'other/country'])
        if (x !== by) {
          const query = `y=${y}&method=${method}&by=${by}&$filter=id gt 10 or größe eq 'b'`
          const { apply, read } = chart(query, x, { by: 'value' })
          assert.ok(read(await ask(apply)).length > 1, apply)
        }
})

serviceTest('a number is cut into bins, whatever it is called', async ({ ask }) => {
  const { binsBetween } = await import('../../../../src/explorer/page/chart/steps.ts')
  for (const x of ['null', 'bin', 'value', 'rows', 'd']) {
    const [ends] = await ask(boundsRequest(readChartState(new URLSearchParams()), x))
    const greatest = Number.isFinite(Number(ends!['hi'])) ? Number(ends!['hi']) : 100
    const bins = binsBetween(Number(ends!['lo']), greatest, { most: 24, isWhole: false })
    const { apply, read } = chart('', x, { by: 'bins', bins })
    const rows = read(await ask(apply))
    assert.is(
      rows.reduce((sum, { value }) => sum + Number(value), 0),
      300,
    )
    const counts = rows.filter(({ group }) => group !== null)
    const filled = filledBins(bins, new Map(counts.map((row) => [row.group as number, 1])))
    assert.ok(filled.length <= 26)
  }
})

test.run()
