// Tests of models, as files: tests/<schema>/<model>/<case>/ with `given/<relation>.<csv|ndjson|sql>`, `expect.csv` and
// `expect.rejected.csv`. A case of several runs has them in directories 1/, 2/ and so on. `test.yml` may say the time at
// which it takes place, values of variables and a tolerance; the first line of `about.md` says what it is about.

import { readdir, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { isPipeOrDevice, readTextLater } from '../files/read-file.ts'
import { requireFewFiles } from './file-limits.ts'
import { unreadable } from './read-text.ts'
import { parseYaml } from './yaml-problems.ts'

export interface ModelTest {
  /** The name as the path spells it. A model of that name need not exist. */
  readonly model: string
  readonly name: string
  /** Relative to the project directory, as all paths here. */
  readonly path: string
  readonly about: string | null
  readonly runs: readonly TestRun[]
  readonly now: Date
  /** By how much floating-point numbers may differ. */
  readonly tolerance: number
  /** Variables in the form in which `--vars` takes them. */
  readonly vars: readonly string[]
  /** What is wrong with its files; null: nothing yet. */
  readonly problem: string | null
}

interface TestRun {
  readonly given: readonly Fixture[]
  /** What the model holds after it; null: that is not compared. */
  readonly expect: string | null
  /** Where the expectation is, or would be. */
  readonly expectPath: string
  /** The same for events that are refused; null: none may be. */
  readonly refused: string | null
  readonly refusedPath: string
}

interface Fixture {
  /** A model, or a table of a source. */
  readonly relation: string
  readonly path: string
  readonly format: FixtureFormat
}

type FixtureFormat = 'csv' | 'ndjson' | 'sql'

const FIRST_NOW = new Date('2026-01-01T00:00:00Z')
const EXPECT = 'expect.csv'
const REFUSED = 'expect.rejected.csv'

/** In the order of their paths; none where there is no tests/. Throws DiagnosticsError for a folder that cannot be read, or has too many. */
export async function readModelTests(dir: string): Promise<readonly ModelTest[]> {
  const broken: BrokenPath[] = []
  const places: (readonly [schema: string, model: string, name: string])[] = []
  for (const schema of await directoriesIn(dir, 'tests', broken))
    for (const model of await directoriesIn(dir, join('tests', schema), broken))
      for (const name of await directoriesIn(dir, join('tests', schema, model), broken))
        places.push([schema, model, name])
  requireFewFiles('tests', places.length)
  const tests: ModelTest[] = []
  for (const place of places) tests.push(await readTest(dir, ...place))
  return [...tests, ...broken.map(brokenTest)]
}

interface BrokenPath {
  readonly path: string
  readonly problem: string
}

/** What dbt calls a singular test would be passed over, and everything would seem to hold. */
const NOT_A_TEST =
  'a test is a directory with given/ and expect.csv; a SELECT of rows that must not exist is a file in checks/'

const NOTHING = { runs: [], now: FIRST_NOW, tolerance: 0, vars: [] }

/** What a link that leads nowhere, or a file, was meant to be. */
function brokenTest({ path, problem }: BrokenPath): ModelTest {
  const [, schema = '', model = '*', name = '*'] = path.split(sep)
  const about = null
  return {
    ...NOTHING,
    model: `${schema}.${model}`,
    name,
    path,
    about,
    problem: `${path}: ${problem}`,
  }
}

async function readTest(
  dir: string,
  schema: string,
  model: string,
  name: string,
): Promise<ModelTest> {
  const path = join('tests', schema, model, name)
  const about = await readTextLater(join(dir, path, 'about.md')).catch(() => '')
  const [line = ''] = about.split('\n')
  const test = {
    model: `${schema}.${model}`,
    name,
    path,
    about: line.replace(/^#+\s*/, '') || null,
  }
  try {
    const settings = await readSettings(dir, path)
    return { ...test, ...settings, runs: await readRuns(dir, path), problem: null }
  } catch (error) {
    return { ...test, ...NOTHING, problem: (error as Error).message }
  }
}

async function readRuns(dir: string, path: string): Promise<readonly TestRun[]> {
  const names = (await readdir(join(dir, path))).filter((name) => !name.startsWith('.'))
  const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const known = [
    'about.md',
    'test.yml',
    ...(numbers.length === 0 ? ['given', EXPECT, REFUSED] : []),
  ]
  const odd = names.find((name) => !known.includes(name) && !/^\d+$/.test(name))
  if (odd !== undefined)
    throw new Error(
      `${path}/${odd}: a test has given/ and ${EXPECT}, or directories 1, 2, … that have them`,
    )
  if (numbers.length === 0) return [await readRun(dir, path)]
  numbers.sort((a, b) => a - b)
  return await Promise.all(numbers.map((number) => readRun(dir, join(path, String(number)))))
}

async function readRun(dir: string, path: string): Promise<TestRun> {
  const names = await readdir(join(dir, path))
  const given = names.includes('given') ? await readdir(join(dir, path, 'given')) : []
  const fixtures = given
    .filter((name) => !name.startsWith('.'))
    .toSorted()
    .map((name): Fixture => {
      const file = join(path, 'given', name)
      const [, relation, format] = /^([^.]+\.[^.]+)\.(csv|ndjson|sql)$/.exec(name) ?? []
      if (relation === undefined)
        throw new Error(
          `${file}: a fixture is named after what it stands for, such as core.orders.csv; .ndjson and .sql are known too`,
        )
      return { relation, path: file, format: format as FixtureFormat }
    })
  const expectPath = join(path, EXPECT)
  const refusedPath = join(path, REFUSED)
  for (const file of [...fixtures.map((fixture) => fixture.path), expectPath, refusedPath])
    if (isPipeOrDevice(join(dir, file))) throw new Error(`${file}: a pipe, a socket or a device`)
  return {
    given: fixtures,
    expect: names.includes(EXPECT) ? expectPath : null,
    expectPath,
    refused: names.includes(REFUSED) ? refusedPath : null,
    refusedPath,
  }
}

async function readSettings(
  dir: string,
  path: string,
): Promise<Pick<ModelTest, 'now' | 'tolerance' | 'vars'>> {
  const file = join(path, 'test.yml')
  const text = await readTextLater(join(dir, file)).catch(() => '')
  let found: unknown
  try {
    const { document, problems } = parseYaml({ path: file, text })
    if (problems[0] !== undefined) throw new Error(problems[0].message)
    found = document.toJS() ?? {}
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
  const { now, vars = {}, tolerance = 0, ...others } = found as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new Error(`${file}: no setting "${unknown}"; known: now, vars, tolerance`)
  const at = now === undefined ? FIRST_NOW : new Date(now as string)
  if (Number.isNaN(at.getTime()))
    throw new Error(`${file}: "now" must be a time such as 2026-01-01T00:00:00Z`)
  if (typeof vars !== 'object' || vars === null)
    throw new Error(`${file}: "vars" must be a group of names and values`)
  if (typeof tolerance !== 'number' || !(tolerance >= 0))
    throw new Error(`${file}: "tolerance" must be a number that is not negative, such as 1e-9`)
  const given = Object.entries(vars).map(([name, value]) => `${name}=${String(value)}`)
  return { now: at, tolerance, vars: given }
}

/** Symbolic links are followed; those that lead nowhere are added to `broken`. */
async function directoriesIn(
  dir: string,
  path: string,
  broken: BrokenPath[],
): Promise<readonly string[]> {
  let at = path
  try {
    const entries = await readdir(join(dir, path), { withFileTypes: true })
    const names: string[] = []
    for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
      at = join(path, entry.name)
      const target = entry.isSymbolicLink() ? await targetOf(join(dir, at)) : entry
      if (target === null) broken.push({ path: at, problem: 'this link leads nowhere' })
      else if (target.isDirectory()) names.push(entry.name)
      else if (entry.name.endsWith('.sql')) broken.push({ path: at, problem: NOT_A_TEST })
    }
    return names.toSorted()
  } catch (error) {
    if (at === 'tests' && (error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new DiagnosticsError([unreadable(at, error)])
  }
}

/** null: there is nothing. */
const targetOf = (path: string) =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
