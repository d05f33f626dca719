// Where a model is still called by a name that it had: files that `eider mv` leaves to their authors.

import { join } from 'node:path'
import { type ModelName, sameName } from '../core/names.ts'
import { literalPattern } from '../core/wildcard.ts'
import { readTextIfThere } from '../files/read-file.ts'
import { readModelTests } from '../project/model-tests.ts'
import type { Project } from '../project/project.ts'

const SETTINGS = 'eider.yml'

/**
 * Paths in the project, those of tests as directories. SQL names the model; boards and settings name its set too. The file of the
 * model itself is at `moved`, unless it was moved before.
 */
export async function stillNaming(
  { files, paths }: Pick<Project, 'files' | 'paths'>,
  old: ModelName,
  moved: string | null,
): Promise<readonly string[]> {
  const inSql = patternOf(old, '[.]')
  const anywhere = patternOf(old, '[._]')
  const sources = files.models
    .filter(({ rollup }) => rollup === undefined)
    .map(({ name, source }) =>
      moved !== null && sameName(name, old) ? { path: moved, text: source.text } : source,
    )
  const texts = [...sources, ...files.macros, ...(files.checks ?? [])]
  const settings = (await readTextIfThere(join(paths.dir, SETTINGS))) ?? ''
  const inSets = [
    ...(files.boards ?? []).map(({ source }) => source),
    { path: SETTINGS, text: settings },
  ]
  const tests = (await readModelTests(paths.dir)).filter(({ model, runs }) =>
    [model, ...runs.flatMap(({ given }) => given.map(({ relation }) => relation))].some((name) =>
      sameName(name, old),
    ),
  )
  const found = [
    ...texts.filter(({ text }) => inSql.test(text)),
    ...inSets.filter(({ text }) => anywhere.test(text)),
    ...tests,
  ]
  return [...new Set(found.map(({ path }) => path))]
}

/** Without the flag `g`, so that it keeps no position. */
function patternOf(name: ModelName, between: string): RegExp {
  const parts = name.split('.').map(literalPattern)
  return new RegExp(`(?<![\\w.])${parts.join(between)}(?!\\w)`, 'i')
}
