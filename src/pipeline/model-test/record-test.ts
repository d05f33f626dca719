// `eider test --record`: a test of a model from rows that the warehouse has.

import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseQuery } from '../../compiler/sql/query-text.ts'
import { count } from '../../core/counts.ts'
import { UsageError } from '../../core/failures.ts'
import type { CompiledProject } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ModelFailure } from '../failure.ts'
import { csvText } from './expected.ts'
import type { TextRow } from '../../core/report/row-difference.ts'
import { type Recorded, type RecordedTable, recordRows } from './record-rows.ts'
import { type TestedModel, testedModel } from './inputs.ts'

interface RecordRequest {
  readonly model: string
  readonly name: string
  /** A condition in SQL. */
  readonly where: string
  readonly mask: readonly string[]
}

interface RecordedTest {
  readonly model: string
  readonly test: string
  readonly path: string
  readonly files: readonly { readonly path: string; readonly rows: number }[]
  /** What the author has to know of it. */
  readonly remarks: readonly string[]
}

export interface Recording {
  readonly project: CompiledProject
  /** Relations are looked up in the warehouse through it. */
  readonly connection: Connection
  readonly dir: string
  /** Runs the test at `path`, and gives what is wrong with it. `accept` takes the rows that come out. */
  readonly run: (
    path: string,
    accept: (file: string, text: string) => Promise<void>,
  ) => Promise<string | null>
}

/** Throws UsageError and DiagnosticsError; then nothing was written. */
export async function recordTest(
  recording: Recording,
  { model: asked, name, where, mask }: RecordRequest,
): Promise<RecordedTest> {
  if (!/^[\p{L}0-9_][\p{L}0-9_ -]*$/u.test(name))
    throw new UsageError(`"${name}" cannot name a test`, {
      hint: 'a name has letters, digits, _ and -, such as newest_wins',
    })
  const { project: compiled, connection, dir } = recording
  const model = asFailure(() => testedModel(compiled, asked))
  if (model.kind === 'events')
    throw new UsageError(`${model.name} takes rows from events, which are not kept as they came`, {
      hint: `write them as senders post them, in tests/${model.name.replace('.', '/')}/${name}/given/${model.name}.ndjson`,
    })
  const path = join('tests', ...model.name.split('.'), name)
  if (existsSync(join(dir, path)))
    throw new UsageError(`${path} already exists`, {
      hint: 'choose another name, or delete that directory',
    })
  const [schema = '', table = ''] = model.name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
  const query = await parseQuery(connection, `SELECT * FROM ${schema}.${table} WHERE (${where}\n)`)
  const record = (withLeftOut: boolean) =>
    recordRows(connection, compiled, model, query, withLeftOut).catch(usage)
  const first = await record(true)
  if (first.sample.length === 0)
    throw new UsageError(`no row of ${model.name} matches the condition`, {
      hint: `to see its rows: eider query 'FROM ${model.name}'`,
    })
  const given = (tables: readonly RecordedTable[]) =>
    tables.map(({ relation, columns, rows }) => ({
      path: join(path, 'given', `${relation}.csv`),
      text: csvText(columns, rows),
      rows: rows.length,
    }))
  const build = async (tables: readonly RecordedTable[]) => {
    for (const file of given(tables)) await write(dir, file.path, file.text)
    return await expectation(recording, path)
  }
  requireColumns(first.tables, mask)
  const kept = await record(false)
  try {
    // What is hidden cannot be compared with the warehouse.
    const { recorded, built: plain } = await closest(first, kept, build, model)
    const remarks = [
      ...remarksOn(recorded, plain.text, model),
      ...besides(recorded.tables, kept.tables, model),
    ]
    const hidden = masked(recorded.tables, mask)
    const built = mask.length === 0 ? plain : await build(hidden)
    const files = given(hidden).map(({ path: file, rows }) => ({ path: file, rows }))
    const expected = { path: join(path, 'expect.csv'), rows: built.rows }
    return { model: model.name, test: name, path, files: [...files, expected], remarks }
  } catch (error) {
    await rm(join(dir, path), { recursive: true, force: true })
    return usage(error)
  }
}

interface Attempt {
  readonly recorded: Recorded
  readonly built: { readonly text: string; readonly rows: number }
}

/**
 * `kept`, without rows that the model leaves out, if their own rows come out, or nothing can be built of them: an earlier
 * run may have had them, or none yet.
 */
async function closest(
  first: Recorded,
  kept: Recorded,
  build: (tables: readonly RecordedTable[]) => Promise<Attempt['built']>,
  model: TestedModel,
): Promise<Attempt> {
  const attempt = async (recorded: Recorded) => {
    const built = await build(recorded.tables)
    const { other, more } = comparison(recorded, built.text, model)
    return { recorded, built, differing: other + more }
  }
  const whole = await attempt(first).catch((error: unknown) => {
    if (error instanceof ModelFailure) return null
    throw error
  })
  if (whole?.differing === 0) return whole
  const less = await attempt(kept)
  return whole === null || less.differing < whole.differing ? less : await attempt(first)
}

async function expectation({ dir, run }: Recording, path: string) {
  let text = ''
  // One of an earlier attempt would be compared with, instead of replaced.
  await rm(join(dir, path, 'expect.csv'), { force: true })
  const problem = await run(path, async (file, written) => {
    text = written
    await write(dir, file, written)
  })
  if (problem !== null) throw new ModelFailure(problem, 'placed')
  return { text, rows: Math.max(0, text.split('\n').length - 2) }
}

function comparison({ sample }: Recorded, built: string, model: TestedModel) {
  const columns = model.columns.map(({ name }) => name)
  const textsOf = (rows: readonly TextRow[]) =>
    new Set(rows.map((row) => csvText(columns, [row]).split('\n')[1]!))
  const asked = textsOf(sample)
  const lines = built.split('\n').slice(1, -1)
  return {
    other: [...asked].filter((line) => !lines.includes(line)).length,
    more: lines.filter((line) => !asked.has(line)).length,
  }
}

function remarksOn(recorded: Recorded, built: string, model: TestedModel): readonly string[] {
  const { sample, tables } = recorded
  const cut = tables
    .filter(({ isCut }) => isCut)
    .map(
      ({ relation, rows }) =>
        `given/${relation}.csv has the first ${count(rows.length, 'row')} only`,
    )
  const unrelated = tables
    .filter(({ isUnrelated, isCut }) => isUnrelated && !isCut)
    .map(
      ({ relation }) =>
        `no column of ${model.name} leads to ${relation}, so given/${relation}.csv has all of its rows`,
    )
  const { other, more } = comparison(recorded, built, model)
  const differs =
    other === 0
      ? []
      : [
          `${other} of ${count(sample.length, 'recorded row')} came out different from the warehouse; compare expect.csv with eider query`,
        ]
  const besides =
    more > 0 && other === 0
      ? [`expect.csv also has ${count(more, 'row')} that --where does not ask for`]
      : []
  return [...cut, ...unrelated, ...differs, ...besides]
}

/** The rows that come for those that the model leaves out. */
function besides(
  tables: readonly RecordedTable[],
  kept: readonly RecordedTable[],
  model: TestedModel,
): readonly string[] {
  const more = tables.flatMap(({ relation, rows }, i) => {
    const others = rows.length - kept[i]!.rows.length
    return others > 0 ? [`${others} of ${relation}`] : []
  })
  if (more.length === 0) return []
  return [
    `also given are rows that ${model.name} leaves out, and their partners: ${more.join(', ')}`,
  ]
}

function requireColumns(tables: readonly RecordedTable[], mask: readonly string[]): void {
  const all = tables.flatMap(({ columns }) => columns.map(foldCase))
  const unknown = mask.find((name) => !all.includes(foldCase(name)))
  if (unknown !== undefined)
    throw new UsageError(`no given table has a column "${unknown}" to mask`, {
      hint: `the columns are ${[...new Set(all)].slice(0, 10).join(', ')}`,
    })
}

/** Equal texts of a column stay equal, in all tables. */
function masked(
  tables: readonly RecordedTable[],
  mask: readonly string[],
): readonly RecordedTable[] {
  const known = new Map<string, Map<string, string>>()
  const hide = (column: string, value: string | null) => {
    if (value === null || !mask.some((name) => foldCase(name) === foldCase(column))) return value
    const texts = known.get(foldCase(column)) ?? new Map<string, string>()
    known.set(foldCase(column), texts)
    const hidden = texts.get(value) ?? `${foldCase(column)} ${texts.size + 1}`
    texts.set(value, hidden)
    return hidden
  }
  return tables.map((table) => ({
    ...table,
    rows: table.rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, hide(name, value)])),
    ),
  }))
}

async function write(dir: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), text)
}

function asFailure<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    return usage(error)
  }
}

function usage(error: unknown): never {
  if (error instanceof ModelFailure) throw new UsageError(error.message)
  throw error
}
