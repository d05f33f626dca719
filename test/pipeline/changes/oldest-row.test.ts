// The oldest row of a table that loses none by itself is corrected: what was made of it goes, though the table begins later.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

for (const kind of ['table', 'merge\n-- @unique_key: id\n-- @deletes: mirror'])
  test(`the oldest row is gone from periods: ${kind.split('\n')[0]}`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts({
      'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nseen_at TIMESTAMPTZ',
      'core.hits': `-- @kind: ${kind}\nSELECT id, max(seen_at) AS seen_at FROM raw.hits GROUP BY id`,
      'mart.daily': `-- @kind: period
-- @period: day of day
SELECT seen_at::DATE AS day, count(*) AS n FROM core.hits GROUP BY 1`,
    })
    const seen = async (id: number, day: number) =>
      await claims.add('raw.hits', [{ id, seen_at: `2026-11-${day}T01:00:00Z` }])
    const days = async () => {
      const openClaims = () => Promise.resolve(claims)
      const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok, JSON.stringify(models))
      const found = await space.rows(
        sql`SELECT strftime(day, '%d') || ' ' || n AS text FROM mart.daily ORDER BY day`,
      )
      return found.map(({ text }) => text as string)
    }
    await seen(1, 10)
    await seen(2, 15)
    await seen(3, 20)
    assert.equal(await days(), ['10 1', '15 1', '20 1'])
    await seen(1, 18)
    assert.equal(await days(), ['15 1', '18 1', '20 1'])
  })

test('days that an edit takes off a calendar are gone from periods and groups', async () => {
  await using space = await openProject()
  const months = async (first: number) => {
    const project = await compileTexts({
      'core.days': `SELECT DATE '2026-01-01' + i::INTEGER AS day FROM range(${first}, 90) AS t(i)`,
      'mart.months': `-- @kind: period
-- @period: month of month
SELECT date_trunc('month', day)::DATE AS month, count(*) AS n FROM core.days GROUP BY ALL`,
      'mart.merged': `-- @kind: merge
-- @unique_key: month
-- @incremental: month
SELECT date_trunc('month', day)::DATE AS month, count(*) AS n FROM core.days GROUP BY ALL`,
    })
    const openClaims = () => Promise.resolve(new FakeClaims(space.path('buffer')))
    const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
    assert.ok(ok, JSON.stringify(models))
    const each = ['mart.months', 'mart.merged'].map((name) =>
      space.rows(
        sql`SELECT month(month) || ' ' || n AS text FROM ${sql.relation(name)} ORDER BY month`,
      ),
    )
    return (await Promise.all(each)).map((rows) => rows.map(({ text }) => text as string))
  }
  const whole = ['1 31', '2 28', '3 31']
  assert.equal(await months(0), [whole, whole])
  const cut = ['2 14', '3 31']
  assert.equal(await months(45), [cut, cut])
})

const windows = {
  'the newest rows of each source': {
    'core.hits':
      'SELECT id, src, seen_at FROM raw.hits QUALIFY row_number() OVER (PARTITION BY src ORDER BY seen_at DESC) <= 2',
  },
  'the last days of each source, in one query': {
    'core.hits': `WITH newest AS (SELECT src, max(seen_at) AS last FROM raw.hits GROUP BY src)
SELECT h.id, h.src, h.seen_at FROM raw.hits h JOIN newest n USING (src) WHERE h.seen_at > n.last - INTERVAL 6 DAY`,
  },
  'the last days of each source, by another table': {
    'core.newest': 'SELECT src, max(seen_at) AS last FROM raw.hits GROUP BY src',
    'core.hits':
      'SELECT h.id, h.src, h.seen_at FROM raw.hits h JOIN core.newest n ON n.src = h.src WHERE h.seen_at > n.last - INTERVAL 6 DAY',
  },
  'the last days of each source, by a view': {
    'core.newest':
      '-- @kind: view\nSELECT src, max(seen_at)::DATE - 4 AS first FROM raw.hits GROUP BY src',
    'core.hits':
      'SELECT h.id, h.src, h.seen_at FROM raw.hits h JOIN core.newest n ON n.src = h.src AND (h.seen_at::DATE = n.first OR h.seen_at::DATE = n.first + 4)',
  },
  'what an append has kept, made anew': {
    'core.window':
      'SELECT id, src, seen_at FROM raw.hits QUALIFY row_number() OVER (PARTITION BY src ORDER BY seen_at DESC) <= 2',
    'core.hits': '-- @kind: append\n-- @incremental: seen_at\nSELECT * FROM core.window',
  },
}

for (const [name, models] of Object.entries(windows))
  test(`what a window has left stays in periods: ${name}`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts({
      'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nsrc VARCHAR,\nseen_at TIMESTAMP',
      ...models,
      'mart.daily': `-- @kind: period
-- @period: day of day
SELECT seen_at::DATE AS day, count(*) AS n FROM core.hits GROUP BY 1`,
    })
    const days = async (more: object = {}) => {
      const openClaims = () => Promise.resolve(claims)
      const given = { ...runDefaults(space.paths), project, openClaims, ...more }
      const { ok, models: built } = await runPipeline(given)
      assert.ok(ok, JSON.stringify(built))
      return (await space.rows(sql`SELECT day FROM mart.daily`)).length
    }
    const seen = (id: number, day: number) =>
      claims.add('raw.hits', [{ id, src: 'a', seen_at: `2026-11-${day} 01:00:00` }])
    await seen(1, 10)
    await seen(2, 14)
    const before = await days()
    await seen(3, 18)
    assert.is(await days(), before + 1)
    const selection = { include: ['core.hits'], exclude: [], retry: false }
    await days({ fullRefresh: true, selection })
    assert.is(await days(), before + 1)
  })

test.run()
