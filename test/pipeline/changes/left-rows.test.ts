// Rows that tables keep though an input that keeps its own has lost what they were made of: plans and runs count them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { planRun } from '../../../src/pipeline/plan/show-changes.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { openStore } from '../../../src/store/open.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults, type TestProject } from '../../support/pipeline-project.ts'

const texts = {
  'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nday DATE,\nn INTEGER',
  'core.hits':
    '-- @kind: append\n-- @incremental: day\n-- @unique_key: id\nSELECT id, day, n FROM raw.hits',
  'mart.keyed':
    '-- @kind: append\n-- @incremental: day\n-- @unique_key: id\nSELECT id, day FROM core.hits',
  'mart.log': '-- @kind: append\n-- @incremental: day\nSELECT day, n FROM core.hits',
  'mart.merged':
    '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\nSELECT id, day, n FROM core.hits',
  'mart.days':
    '-- @kind: period\n-- @period: day of day\nSELECT day, count(*) AS n FROM core.hits GROUP BY day',
}

/** Of a key whose rows go to another one. */
const daily = {
  'core.daily':
    '-- @kind: period\n-- @period: day of day\n-- @unique_key: id\nSELECT id, day FROM raw.hits',
  'mart.daily':
    '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\nSELECT id, day FROM core.daily',
}

function opened(space: TestProject, files: Readonly<Record<string, string>> = texts) {
  const claims = new FakeClaims(space.path('buffer'))
  const openClaims = () => Promise.resolve(claims)
  return {
    send: (...days: readonly number[]) =>
      claims.add(
        'raw.hits',
        days.map((day) => ({ id: day, day: dayOf(day), n: 1 })),
        { opening: 1 },
      ),
    add: (rows: readonly object[]) => claims.add('raw.hits', rows, { opening: 1 }),
    run: async (options: Partial<RunRequest> = {}) => {
      const project = await compileTexts(files)
      const request = { ...runDefaults(space.paths), project, openClaims, ...options }
      const { ok, models } = await runPipeline(request)
      if (!ok) throw new Error(JSON.stringify(models, null, 2))
      return warned(models.map(({ model: name, warnings = [] }) => ({ name, warnings })))
    },
    plan: async () => {
      const store = openStore(space.paths)
      await using warehouse = await store.warehouse.openToRead({ memoryLimit: null, threads: 1 })
      await using connection = await warehouse.connect()
      const { steps } = await planRun({
        connection,
        paths: space.paths,
        store,
        project: await compileTexts(files),
        withNewEvents: new Set(),
        waitingSegments: () => Promise.resolve([]),
        diff: true,
      })
      return warned(
        steps.map(({ model: { name }, diff }) => ({ name, warnings: diff?.warnings ?? [] })),
      )
    },
  }
}

const dayOf = (day: number): string => `2026-11-${String(day).padStart(2, '0')}`

interface Said {
  readonly name: string
  readonly warnings: readonly string[]
}

/** The first part of each warning, by models that have any. */
const warned = (models: readonly Said[]) =>
  Object.fromEntries(
    models.flatMap(({ name, warnings }) =>
      warnings.length === 0 ? [] : [[name, warnings.map((text) => text.split(';')[0]).join()]],
    ),
  )

const rebuilt: Partial<RunRequest> = {
  selection: { include: ['core.hits'], exclude: [], retry: false },
  fullRefresh: true,
}

const left =
  '2 rows (day from 2026-11-03 to 2026-11-05) stay though the SELECT no longer gives them, after changes of core.hits'

test('a plan and a run count what is left of an input that was rebuilt, once', async () => {
  await using space = await openProject()
  const { send, run, plan } = opened(space)
  await send(3, 4, 5, 6)
  assert.equal(await run(), {})
  await space.alter(sql`DELETE FROM raw.hits WHERE id IN (3, 5)`)
  await run(rebuilt)
  const all = { 'mart.keyed': left, 'mart.log': left, 'mart.merged': left }
  assert.equal(await plan(), all)
  assert.equal(await run(), all)
  assert.equal(await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.keyed`), [{ n: 4 }])
  assert.equal(await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.days`), [{ n: 2 }])
  await send(2, 7)
  assert.equal(await run(), {})
})

test('a rebuild that has all rows again, and a range replaced by one with a row less', async () => {
  await using space = await openProject()
  const { send, run } = opened(space)
  await send(3, 4, 5, 6)
  await run()
  await run(rebuilt)
  assert.equal(await run(), {})
  await space.alter(sql`DELETE FROM raw.hits WHERE id = 4`)
  await run({ ...rebuilt, fullRefresh: false, range: { start: '2026-11-01', end: '2026-11-06' } })
  const one =
    '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of core.hits'
  assert.equal(await run(), { 'mart.keyed': one, 'mart.log': one, 'mart.merged': one })
})

test('a period whose rows have other keys than before has lost some', async () => {
  await using space = await openProject()
  const { send, run } = opened(space, { 'raw.hits': texts['raw.hits'], ...daily })
  await send(3, 4, 5)
  await run()
  await space.alter(sql`UPDATE raw.hits SET id = 44 WHERE id = 4`)
  await run({
    selection: { include: ['core.daily'], exclude: [], retry: false },
    fullRefresh: false,
    range: { start: '2026-11-01', end: '2026-11-06' },
  })
  const { 'mart.daily': said } = await run()
  assert.is(
    said,
    '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of core.daily',
  )
})

const newest = 'FROM raw.hits QUALIFY row_number() OVER (PARTITION BY id ORDER BY n DESC) = 1'

/** Of hits 3 to 6, of which each time one gets a newer version: what is said by the readers of the table "core.it". */
const changes: readonly {
  readonly of: string
  readonly it: string
  readonly readers: Readonly<Record<string, string>>
  readonly change: object
  readonly said: Readonly<Record<string, string>>
}[] = [
  {
    of: 'a key of which the readers make another one',
    it: `-- @kind: merge\n-- @unique_key: id\nSELECT id, day, n ${newest}`,
    readers: {
      merged:
        '-- @kind: merge\n-- @unique_key: code\n-- @incremental: day\nSELECT id * 10 + n AS code, day FROM core.it',
      log: '-- @kind: append\n-- @incremental: day\nSELECT day, n FROM core.it',
      first:
        '-- @kind: append\n-- @incremental: day\n-- @unique_key: id\nSELECT id, day, n FROM core.it',
    },
    change: { id: 4, day: dayOf(4), n: 2 },
    said: {
      'mart.merged':
        '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of core.it',
      'mart.log':
        '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of core.it',
      'mart.first':
        '1 row (day 2026-11-04) keeps its values though the SELECT gives others, after changes of core.it',
    },
  },
  {
    of: 'a day, in periods',
    it: `-- @kind: period\n-- @period: day of day\nFROM core.newest`,
    readers: { log: '-- @kind: append\n-- @incremental: day\nSELECT day, id FROM core.it' },
    change: { id: 4, day: dayOf(5), n: 2 },
    said: {
      'mart.log':
        '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of core.it',
    },
  },
  {
    of: 'a value that the WHERE of the readers leaves out',
    it: `-- @kind: table\nSELECT id, day, n ${newest}`,
    readers: {
      some: '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\nSELECT id, day FROM core.it WHERE n < 2',
      looked: '-- @kind: append\n-- @incremental: day\nSELECT id, day FROM stage.it',
    },
    change: { id: 3, day: dayOf(3), n: 2 },
    said: {
      'mart.some':
        '1 row (day 2026-11-03) stays though the SELECT no longer gives it, after changes of core.it',
      'mart.looked':
        '1 row (day 2026-11-03) stays though the SELECT no longer gives it, after changes of core.it',
    },
  },
  {
    of: 'the lower end of a mirror that forgets nothing',
    it: `-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nFROM core.newest WHERE n < 2`,
    readers: {
      merged:
        '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\nSELECT id, day FROM core.it',
    },
    change: { id: 3, day: dayOf(3), n: 2 },
    said: {
      'mart.merged':
        '1 row (day 2026-11-03) stays though the SELECT no longer gives it, after changes of core.it',
    },
  },
  {
    of: 'a sum that an append adds once more, or has already',
    it: '-- @kind: view\nSELECT * FROM raw.hits',
    readers: {
      sums: '-- @kind: append\n-- @incremental: day\nSELECT day, sum(n) AS n FROM core.it GROUP BY day',
      once: '-- @kind: append\n-- @incremental: day\n-- @unique_key: day\nSELECT day, sum(n) AS n FROM core.it GROUP BY day',
      rows: '-- @kind: append\n-- @incremental: day\nSELECT day, n FROM core.it',
    },
    change: { id: 9, day: dayOf(4), n: 1 },
    said: {
      'mart.sums':
        '1 row (day 2026-11-04) stays though the SELECT no longer gives it, after changes of raw.hits',
      'mart.once':
        '1 row (day 2026-11-04) keeps its values though the SELECT gives others, after changes of raw.hits',
    },
  },
]

for (const { of, it, readers, change, said } of changes)
  test(`what stays when a row gets ${of}`, async () => {
    await using space = await openProject()
    const files = Object.entries(readers).map(([name, text]) => [`mart.${name}`, text])
    const { send, add, run, plan } = opened(space, {
      'raw.hits': texts['raw.hits'],
      'core.newest': `-- @kind: table\nSELECT id, day, n ${newest}`,
      'core.it': it,
      'stage.it': '-- @kind: view\nFROM core.it WHERE n < 2',
      ...(Object.fromEntries(files) as Readonly<Record<string, string>>),
    })
    await send(3, 4, 5, 6)
    assert.equal(await run(), {})
    await add([change])
    assert.equal(await run(), said)
    assert.equal(await run(), {})
    assert.equal(await plan(), {})
  })

const merge = (header: string, select: string) =>
  `-- @kind: merge\n-- @unique_key: ${header}\nSELECT ${select}`

const whole = {
  'raw.hits': texts['raw.hits'],
  'core.it': `-- @kind: table\nSELECT id, id % 3 AS k, 'k' || id AS code, day, n ${newest}`,
  'mart.whole': merge('id', 'id, day FROM core.it WHERE n % 2 = 1'),
  'mart.code': merge('code', 'code FROM core.it WHERE n % 2 = 1'),
  'mart.sums': merge('k', 'k, sum(n) AS n FROM core.it WHERE n % 2 = 1 GROUP BY k'),
  'mart.mirror': merge('id\n-- @deletes: mirror', 'id, day FROM core.it WHERE n % 2 = 1'),
  'mart.meant': merge('id\n-- @deletes: keep', 'id, day FROM core.it WHERE n % 2 = 1'),
  'mart.lately': merge('id', 'id FROM core.it WHERE n % 2 = 1 AND day > current_date - 99'),
  'mart.last': merge('id', 'id FROM core.it WHERE n % 2 = 1 ORDER BY id DESC LIMIT 2'),
}

test('a merge that reads its SELECT whole says how many rows stay, until somebody says what is meant', async () => {
  await using space = await openProject()
  const { send, add, run, plan } = opened(space, whole)
  await send(3, 4, 5)
  assert.equal(await run(), {})
  await send(6)
  assert.equal(await run(), {}, 'rows have come')
  await add([{ id: 4, day: dayOf(4), n: 2 }])
  const stays = (what: string) => `1 row (${what}) stays though the SELECT no longer gives it`
  const said = {
    'mart.whole': stays('id 4'),
    'mart.code': stays('code k4'),
    'mart.sums': stays('k 1'),
  }
  assert.equal(await run(), said)
  assert.equal(await run(), {}, 'nothing to do')
  assert.equal(await plan(), {})
  await send(8)
  assert.equal(await run(), said, 'it is still so')
  await add([{ id: 4, day: dayOf(4), n: 3 }])
  assert.equal(await run(), {}, 'all are back')
})

const incremental = (select: string) =>
  `-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\n${select}`
const numbered =
  'WITH x AS (SELECT *, row_number() OVER (PARTITION BY id ORDER BY n DESC) AS nth FROM raw.hits) SELECT id, day FROM x WHERE nth = 1'

const picking: readonly { readonly it: string; readonly select: string; readonly says: boolean }[] =
  [
    { it: 'all of a view', select: 'SELECT id, day FROM stage.newest', says: false },
    { it: 'some of a view', select: 'SELECT id, day FROM stage.newest WHERE n < 2', says: true },
    { it: 'all of the first', select: numbered, says: false },
    { it: 'some of the first', select: `${numbered} AND n < 2`, says: true },
    { it: 'some of QUALIFY', select: `SELECT id, day ${newest} AND n < 2`, says: true },
    {
      it: 'the newest of some',
      select: `SELECT id, day ${newest.replace('QUALIFY', 'WHERE n < 2 QUALIFY')}`,
      says: false,
    },
    { it: 'no window', select: 'SELECT id, day FROM raw.hits WHERE n < 2', says: false },
  ]

for (const { it, select, says } of picking)
  test(`that rows may stay which are picked and left out is said: ${it}`, async () => {
    await using space = await openProject()
    const { send, add, run } = opened(space, {
      'raw.hits': texts['raw.hits'],
      'stage.newest': `-- @kind: view\n${newest}`,
      'mart.it': incremental(select),
    })
    await send(3, 4, 5)
    assert.equal(await run(), {})
    await add([{ id: 4, day: dayOf(9), n: 2 }])
    const said =
      'rows may stay whose newer state in raw.hits the SELECT leaves out, since it picks rows before it filters them'
    assert.equal(await run(), says ? { 'mart.it': said } : {})
    assert.equal(await run(), {})
  })

const before = (part: string) =>
  `id, day, lag(n) OVER (PARTITION BY ${part} ORDER BY n) AS was FROM raw.hits`

for (const [it, view, select, says] of [
  ['by id', before('id'), 'id, day, was FROM stage.it', true],
  ['by day', before('day'), 'id, day, was FROM stage.it', false],
  ['below another', before('id'), 'id, day, total FROM stage.total', true],
  ['of numbers', before('id').replace('lag(n)', 'rank()'), 'id, day FROM stage.it', false],
] as const)
  test(`that rows keep values of rows that have changed is said of a window of a view: ${it}`, async () => {
    await using space = await openProject()
    const { send, add, run } = opened(space, {
      'raw.hits': texts['raw.hits'],
      'stage.it': `-- @kind: view\nSELECT ${view}`,
      'stage.total':
        '-- @kind: view\nSELECT id, day, sum(was) OVER (PARTITION BY day) AS total FROM stage.it',
      'mart.it': incremental(`SELECT ${select}`),
    })
    await send(3, 4, 5)
    assert.equal(await run(), {})
    await add([{ id: 8, day: dayOf(2), n: 0 }])
    const said =
      'rows with other values of day may keep what they have, since a window of stage.it makes them of rows that have changed'
    assert.equal(await run(), says ? { 'mart.it': said } : {})
    assert.equal(await run(), {})
  })

test('a plan says which rows a merge would keep of a file that has lost them', async () => {
  await using space = await openProject()
  const { run, plan } = opened(space, {
    'core.file': merge('id', `id, day FROM read_csv('${space.path('hits.csv')}')`),
  })
  await space.write('hits.csv', 'id,day\n1,2026-11-01\n2,2026-11-02\n3,2026-11-03\n')
  assert.equal(await run(), {})
  await space.write('hits.csv', 'id,day\n2,2026-11-02\n4,2026-11-04\n')
  const said = {
    'core.file': '2 rows (id from 1 to 3) stay though the SELECT no longer gives them',
  }
  assert.equal(await plan(), said)
  assert.equal(await run(), said)
})

for (const kind of ['table', 'merge\n-- @unique_key: id\n-- @deletes: mirror'])
  test(`what is gone from the beginning of a file is told, unless the SELECT forgets by the clock: ${kind.split('\n')[0]}`, async () => {
    await using space = await openProject()
    const from = `FROM read_csv('${space.path('hits.csv')}')`
    const { run, plan } = opened(space, {
      'core.hits': `-- @kind: ${kind}\nSELECT id, day ${from}`,
      'core.newer': `-- @kind: ${kind}\nSELECT id, day ${from} WHERE day < now()::DATE + 99999`,
      'mart.log': '-- @kind: append\n-- @incremental: day\nSELECT day, id FROM core.hits',
      'mart.newer': '-- @kind: append\n-- @incremental: day\nSELECT day, id FROM core.newer',
    })
    const write = (...days: readonly number[]) =>
      space.write(
        'hits.csv',
        ['id,day', ...days.map((day) => `${day},${dayOf(day)}`), ''].join('\n'),
      )
    await write(3, 4, 5)
    assert.equal(await run(), {})
    await write(4, 5)
    const said = {
      'core.hits':
        '1 row (day 2026-11-03) of its beginning is gone, and a file or a source may only have forgotten it, so mart.log keeps what was made of it',
    }
    assert.equal(await plan(), said)
    assert.equal(await run(), said)
    assert.equal(await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.log`), [{ n: 3 }])
    await write(4, 5, 6)
    assert.equal(await run(), {})
  })

test.run()
