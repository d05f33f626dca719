// A merge that reads a part of its input and takes the latest row of each key: an older one may come after it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

const states = '-- @kind: events\nid BIGINT NOT NULL,\nts TIMESTAMPTZ,\nversion INTEGER'
const latest = (by: string, incremental = '\n-- @incremental: ts') =>
  `-- @kind: merge\n-- @unique_key: id${incremental}\n-- @on_duplicate: latest(${by})\nSELECT id, ts, version FROM raw.states`

const timeAt = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`

test('an older state of a key that comes late, or is in a range, replaces no newer one', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const texts = {
    'raw.states': states,
    'core.whole': latest('ts', ''),
    'core.by_time': latest('ts'),
    'core.by_version': latest('version'),
  }
  const project = await compileTexts(texts)
  const run = async (options: Partial<RunRequest> = {}) => {
    const openClaims = () => Promise.resolve(claims)
    const request = { ...runDefaults(space.paths), project, openClaims, ...options }
    const { ok, models } = await runPipeline(request)
    assert.ok(ok, JSON.stringify(models, null, 2))
  }
  const send = (...rows: readonly (readonly [number, number, number])[]) =>
    claims.add(
      'raw.states',
      rows.map(([id, hour, version]) => ({ id, ts: timeAt(hour), version })),
      { opening: 1 },
    )
  const rows = (name: string) =>
    space.rows(sql`SELECT id, version FROM ${sql.ident('core', name)} ORDER BY id`)
  const areEqual = async (...versions: readonly number[]) => {
    const expected = versions.map((version, i) => ({ id: BigInt(i + 1), version }))
    for (const name of ['whole', 'by_time', 'by_version']) {
      const found = await rows(name)
      assert.equal(
        found.map(({ id, version }) => ({ id: BigInt(id as string), version })),
        expected,
        name,
      )
    }
  }
  await send([1, 5, 3], [2, 20, 1])
  await run()
  await send([1, 2, 2], [2, 21, 5])
  await run()
  await areEqual(3, 5)
  await send([1, 3, 1], [1, 6, 4], [2, 1, 1])
  await run()
  await areEqual(4, 5)
  const range = { start: timeAt(1), end: timeAt(4) }
  await run({
    selection: { include: ['core.by_time', 'core.by_version'], exclude: [], retry: false },
    range,
  })
  await areEqual(4, 5)
})

test.run()
