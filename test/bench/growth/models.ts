// Projects that grow: more models, wider and deeper graphs of them, wider tables.

import { type Workspace, workspace } from '../../support/workspace.ts'
import { takenByEider } from '../processor-time.ts'
import { serveTable } from '../served.ts'
import { changedModel, smallModels } from '../small-models.ts'
import { answerMs, rowCosts } from './answers.ts'
import { type Cost, type Curve, least } from './curve.ts'

const ROUNDS = 3

const eiderMs = (args: readonly string[], space: Workspace) =>
  takenByEider(args, space.dir).processorMs

export const models: Curve = {
  name: 'models',
  of: 'models',
  about:
    'Small models in ten schemas, each but the first ten reading one other. All are compiled and built from nothing; a run finds nothing to do; a run after one model has changed; `eider ls`.',
  sizes: [10, 100, 1_000, 5_000],
  moreSizes: [],
  async measure(count) {
    await using space = await workspace(smallModels(count))
    const compile = eiderMs(['ls'], space)
    const build = eiderMs(['run', '--quiet'], space)
    let change = 0
    const changed = await least(ROUNDS, async () => {
      const { path, text } = changedModel(count - 1, ++change)
      await space.write(path, text)
      return eiderMs(['run', '--quiet'], space)
    })
    return [
      { operation: 'compile from nothing, a model', ms: compile, work: count },
      { operation: 'build from nothing, a model', ms: build, work: count },
      { operation: 'run with one changed, a model', ms: changed, work: count },
      ...(await afterwards(space, count, 'a model')),
    ]
  },
}

async function afterwards(space: Workspace, work: number, unit: string): Promise<readonly Cost[]> {
  const idle = await least(ROUNDS, () => eiderMs(['run', '--quiet'], space))
  const list = await least(ROUNDS, () => eiderMs(['ls'], space))
  return [
    { operation: `run with nothing to do, ${unit}`, ms: idle, work },
    { operation: `ls, ${unit}`, ms: list, work },
  ]
}

/** Builds a project, builds it again after its first model has changed, and looks at it. */
async function grownProject(count: number, text: (i: number) => string): Promise<readonly Cost[]> {
  const path = (i: number) => `models/core/m${i}.sql`
  const files = Array.from({ length: count }, (_, i) => [path(i), text(i)] as const)
  await using space = await workspace({
    'eider.yml': 'name: grown\n',
    ...Object.fromEntries(files),
  })
  const build = eiderMs(['run', '--quiet'], space)
  await space.write(path(0), text(0).replace('AS id', '+ 1 AS id'))
  const changed = eiderMs(['run', '--quiet'], space)
  return [
    { operation: 'build from nothing, a model', ms: build, work: count },
    { operation: 'run after a change of the first, a model', ms: changed, work: count },
    ...(await afterwards(space, count, 'a model')),
  ]
}

const first = '-- @kind: table\nSELECT 1 AS id, 2 AS amount\n'

export const dagWidth: Curve = {
  name: 'dag-width',
  of: 'models that read one model',
  about: 'All models read the first one, so that a change of it builds all of them again.',
  sizes: [10, 100, 1_000],
  moreSizes: [5_000],
  measure: (count) =>
    grownProject(count, (i) =>
      i === 0 ? first : `-- @kind: table\nSELECT id, amount * ${i} AS amount FROM core.m0\n`,
    ),
}

export const dagDepth: Curve = {
  name: 'dag-depth',
  of: 'models in a row',
  about:
    'Each model reads the one before it, so that a change of the first builds all of them again.',
  sizes: [10, 100, 1_000],
  moreSizes: [5_000],
  measure: (count) =>
    grownProject(count, (i) =>
      i === 0 ? first : `-- @kind: table\nSELECT id, amount + ${i} AS amount FROM core.m${i - 1}\n`,
    ),
}

const COLUMN_ROWS = 1_000

export const columns: Curve = {
  name: 'columns',
  of: 'columns',
  about: `A published table of ${COLUMN_ROWS.toLocaleString('en-US')} rows, and a model that adds up each of its columns. One service answers \`$metadata\`, and rows by key with all columns, from DuckDB and from the file that it makes of rows.`,
  sizes: [10, 100, 1_000],
  moreSizes: [],
  async measure(count) {
    const names = Array.from({ length: count }, (_, i) => `c${i}`)
    await using space = await workspace({
      'eider.yml': 'name: wide\n',
      'models/core/wide.sql': `-- @kind: table\n-- @expose id\nSELECT i::INTEGER AS id, ${names.map((name, i) => `i + ${i} AS ${name}`).join(', ')}\nFROM range(${COLUMN_ROWS}) AS r(i)\n`,
      'models/mart/sums.sql': `-- @kind: table\nSELECT ${names.map((name) => `sum(${name}) AS ${name}`).join(', ')} FROM core.wide\n`,
    })
    const build = eiderMs(['run', '--quiet'], space)
    return [
      { operation: 'build from nothing, a column', ms: build, work: count },
      ...(await afterwards(space, count, 'a column')),
      ...(await answered(space, count)),
    ]
  },
}

async function answered(space: Workspace, count: number): Promise<readonly Cost[]> {
  await using service = await serveTable(space.dir, { cacheBytes: 0 })
  const unit = { work: count, unit: ', a column' }
  const rows = await rowCosts(service, 'core_wide', COLUMN_ROWS, unit)
  const metadata = await answerMs(service, () => '$metadata')
  return [...rows, { operation: '$metadata, a column', ms: metadata, work: count }]
}
