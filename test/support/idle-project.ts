// A project with every kind of input, and runs of it that find nothing to do.

import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { seededRandom } from './seeded-random.ts'
import { type Workspace, workspace } from './workspace.ts'

export const SHOP = {
  'eider.yml': [
    'name: shop',
    'vars:',
    '  least: 1',
    'odata:',
    '  keep_minutes: 0', // what is kept for its age alone is deleted by a run, so nothing is noted until then
    'targets:',
    '  other: {}',
    '',
  ].join('\n'),
  '.env': '',
  'seeds/ref/countries.csv': 'country,name\nNO,Norway\nSE,Sweden\n',
  'data/rates.csv': 'country,rate\nNO,1\nSE,2\n',
  'macros/twice.sql': 'CREATE MACRO twice(x) AS x * 2\n',
  'models/raw/orders.sql': '-- @kind: events\n\norder_id INTEGER NOT NULL,\ncountry VARCHAR\n',
  'models/core/rates.sql':
    "-- @kind: table\n-- @expose country\n\nSELECT country, twice(rate) AS rate FROM read_csv('data/rates.csv') WHERE rate >= ${least}\n",
  'models/mart/named.sql':
    '-- @kind: table\n-- @expose country\n\nSELECT name, rate, country FROM core.rates JOIN ref.countries USING (country)\n',
  'models/mart/ordered.sql':
    '-- @kind: view\n\nSELECT country, count(*) AS orders FROM raw.orders GROUP BY country\n',
}

export interface Edit {
  readonly what: string
  readonly make: (space: Workspace) => Promise<void>
  /** The next run has more to do than to say that there is nothing. */
  readonly isWork: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

/** With other content of the same size, and its time set back. */
export async function overwrite(
  space: Workspace,
  path: string,
  from: string,
  to: string,
): Promise<void> {
  const { atime, mtime } = statSync(space.path(path))
  const text = await readFile(space.path(path), 'utf8')
  assert.ok(text.includes(from), `${path} has ${from}`)
  await writeFile(space.path(path), text.replace(from, to))
  utimesSync(space.path(path), atime, mtime)
}

export const note = (space: Workspace) => space.path('.eider/idle.json')
export const waiting = (space: Workspace) => {
  const path = space.path('.eider/idle-runs.ndjson')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).length : 0
}

export interface Result {
  readonly event: string
  readonly model?: string
  readonly status?: string
  readonly because?: string
  readonly run_id?: string
}

export async function run(space: Workspace, { env = {}, args = [] }: Partial<Edit> = {}) {
  const { stdout } = await space.ok(['run', '--json', ...args], { env })
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  return events.filter(({ event }) => event === 'model-finished')
}

export const isIdle = (results: readonly Result[]) =>
  results.every(({ status }) => status === 'unchanged')

/** So that the next run finds a note. */
export async function settle(space: Workspace, asked: Partial<Edit> = {}): Promise<void> {
  await sleep(limits.racyMs + 100)
  await rm(note(space), { force: true })
  const results = await run(space, asked)
  assert.ok(isIdle(results), `something was left: ${JSON.stringify(results)}`)
}

export async function historyOf(space: Workspace): Promise<readonly string[]> {
  const { stdout } = await space.ok(['history', '--json', '--limit', '1000'])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  return events.flatMap(({ event, run_id: id }) => (event === 'run' ? [id!] : []))
}

/** Each edit, in an order of `seed`, between a run that found nothing to do and one that must see it. */
export async function runAfterEach(
  edits: readonly Edit[],
  seed: number,
  files: Readonly<Record<string, string>> = SHOP,
): Promise<void> {
  await using space = await workspace(files)
  await space.ok(['run'])
  const random = seededRandom(seed)
  const order = edits
    .map((edit) => ({ edit, place: random() }))
    .toSorted((a, b) => a.place - b.place)
  await settle(space)
  for (const {
    edit: { what, make, isWork, ...asked },
  } of order) {
    assert.ok(existsSync(note(space)), `nothing was noted before ${what}`)
    const before = waiting(space)
    assert.ok(isIdle(await run(space)), what)
    assert.is(waiting(space), before + 1, `the engine was started before ${what}`)
    await make(space)
    assert.is(isIdle(await run(space, asked)), !isWork, what)
    await settle(space, asked)
    if (asked.args === undefined && asked.env === undefined) continue
    await space.ok(['run'])
    await settle(space)
  }
}
