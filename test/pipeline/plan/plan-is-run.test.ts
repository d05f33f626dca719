// Random edits of a project, flags and selections: what a plan says of each model is what the run then does, and what a
// run refuses has the words of the plan.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DiagnosticsError } from '../../../src/core/diagnostics.ts'
import type { Model } from '../../../src/core/model.ts'
import type { PlannedStep } from '../../../src/core/report/planned-changes.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { openProject } from '../../support/pipeline-project.ts'
import { type PlanGiven, planned } from '../../support/plans.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const ROUNDS = 20
// Another definition with the same rows.
const LIMIT = ' limit 1000'
const names = ['raw.s', 'raw.e', 'core.a', 'core.b', 'mart.t', 'mart.v'] as const
type Name = (typeof names)[number]

/** What a model may read. */
const inputs: Readonly<Record<Name, readonly Name[]>> = {
  'raw.s': [],
  'raw.e': [],
  'core.a': ['raw.s'],
  'core.b': ['raw.s', 'core.a', 'raw.e'],
  'mart.t': ['core.a', 'core.b', 'raw.s'],
  'mart.v': ['mart.t', 'core.b'],
}

class Author {
  readonly #random: () => number
  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!
  }

  edit(name: Name, text: string): string {
    if (name === 'raw.e' || this.chance(0.6)) return this.write(name)
    return text.endsWith(LIMIT) ? text.slice(0, -LIMIT.length) : text + LIMIT
  }

  write(name: Name): string {
    if (name === 'raw.e')
      return this.chance(0.8)
        ? `-- @kind: events\nid ${this.pick(['bigint', 'bigint', 'integer'])}, v integer, ts integer`
        : this.#query('select 1 as id, 2 as v, 3 as ts')
    if (name === 'raw.s') return this.#query(this.#source())
    const v = this.pick(['v', 'v', 'v::bigint as v', 'v::smallint as v', 'v + 1 as v'])
    const more = this.pick(['', '', '', ', 1 as w', ', v as w'])
    const where = this.pick(['', '', '', ' where id > 1', ' where false'])
    const columns = this.chance(0.3) ? '*' : `id, ${v}, ts${more}`
    return this.#query(`select ${columns} from ${this.pick(inputs[name])}${where}`)
  }

  given(): PlanGiven {
    const some = this.chance(0.3) ? [this.pick(names), `${this.pick(names)}+`] : []
    return {
      selection: { include: some, exclude: [], retry: false },
      fullRefresh: this.chance(0.15),
      allowEmpty: this.chance(0.2),
      ...(this.chance(0.2) ? { range: this.pick([ranges.good, ranges.bad]) } : {}),
    }
  }

  #source(): string {
    const row = () =>
      `(${this.pick([1, 2, 3])}, ${this.pick([1, 2, 'null'])}, ${this.pick([1, 2, 3])})`
    const rows = this.chance(0.5) ? ['(1, 1, 1)', '(2, 2, 2)'] : [row(), row(), row()]
    return `select id::integer as id, v::integer as v, ts::integer as ts from (values ${rows.join()}) t(id, v, ts)`
  }

  #query(text: string): string {
    const header = this.pick([
      '-- @kind: table',
      '-- @kind: table\n-- @expose id',
      '-- @kind: table\n-- @check: v < 3',
      '-- @kind: view',
      '-- @kind: append\n-- @incremental: ts',
      '-- @kind: append\n-- @incremental: ts\n-- @unique_key: id\n-- @on_schema_change: rebuild',
      '-- @kind: merge\n-- @unique_key: id\n-- @on_duplicate: latest(ts)',
      '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror',
      '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts\n-- @on_schema_change: fail',
      '-- @kind: scd2\n-- @unique_key: id\n-- @on_duplicate: latest(ts)',
      '-- @kind: scd2\n-- @unique_key: id\n-- @on_duplicate: latest(ts)\n-- @compare: v\n-- @deletes: keep',
    ])
    return `${header}\n${text}`
  }
}

const ranges = { good: { start: '1', end: '3' }, bad: { start: 'x', end: '3' } }

type Texts = Readonly<Record<Name, string>>

/** null: the edit does not compile. */
async function compiled(texts: Texts): Promise<readonly Model[] | null> {
  try {
    return [...(await compileTexts(texts)).models.values()]
  } catch (error) {
    if (error instanceof DiagnosticsError) return null
    throw error
  }
}

/** What the run is to do, in the words of its results. */
function expectedOf({ model, action, because, problem }: PlannedStep): readonly string[] {
  if (action === 'skip') return [model.name, 'skipped', because.replace(/ fails$/, ' failed')]
  if (problem !== null) return [model.name, 'failed', problem]
  return [model.name, action === 'build' ? 'built' : 'unchanged', because]
}

/** null: it is not refused as a whole. */
const refusalOf = (ask: () => Promise<unknown>): Promise<string | null> =>
  ask().then(
    () => null,
    (error: Error) => error.message,
  )

interface Seen {
  refused: number
  failed: number
  narrowed: number
  skipped: number
}

async function editAndRun(seed: number, seen: Seen): Promise<void> {
  await using space = await openProject()
  const author = new Author(seed)
  let texts = Object.fromEntries(names.map((name) => [name, author.write(name)])) as Texts
  for (let round = 0; round < ROUNDS; round++) {
    const edits = names.filter(() => author.chance(0.3))
    const edited = edits.map((name) => [name, author.edit(name, texts[name])])
    const next = { ...texts, ...Object.fromEntries(edited) } as Texts
    const given = author.given()
    const models = await compiled(next)
    if (models === null) continue
    texts = next
    const what = JSON.stringify({ seed, round, texts, given }, null, 2)
    const refusal =
      given.range == null ? null : await refusalOf(() => planned(space, models, given))
    if (refusal !== null) {
      assert.match(
        refusal,
        /^--start (?:and --end replace rows of models|x is not a valid value)/,
        what,
      )
      assert.is(await refusalOf(() => space.run(models, given)), refusal, what)
      continue
    }
    const plain = (await planned(space, models, { ...given, diff: false })).steps
    const full = (await planned(space, models, given)).steps
    const { models: results } = await space.run(models, given)
    assert.equal(
      results.map(({ model, status, because }) => [model, status, because]),
      full.map(expectedOf),
      what,
    )
    plain.forEach((step, i) => {
      const then = full[i]!
      if (step.problem !== null && then.action !== 'skip')
        assert.equal([then.action, then.problem], ['build', step.problem], what)
      if (step.action !== 'build') assert.is(then.action, step.action, what)
      if (step.problem !== null) seen.refused++
      else if (then.problem !== null) seen.failed++
      if (step.action === 'build' && then.action === 'unchanged') seen.narrowed++
      if (then.action === 'skip') seen.skipped++
    })
  }
}

test('a run does what the plan says', async () => {
  const seen: Seen = { refused: 0, failed: 0, narrowed: 0, skipped: 0 }
  for (const seed of [1, 2, 3]) await editAndRun(seed, seen)
  for (const [event, times] of Object.entries(seen)) assert.ok(times > 0, `${event}: ${times}`)
})

test.run()
