// Whether the models of a project that do not compile fail for the texts of the project alone, so that they fail again as
// long as these are the same. One that may read a file, a setting or a table outside may compile the next time.

import type { Code } from '../../core/diagnostics.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { ProjectFiles } from '../../core/project.ts'
import { nameOf, tokenize } from '../sql/tokens.ts'

/** Mistakes that nothing but another text, or another model, takes away; of `sql-binding` see below. */
const OF_TEXTS: ReadonlySet<Code> = new Set<Code>([
  'annotation-syntax',
  'dependency-cycle',
  'empty-body',
  'merge-conflict',
  'not-a-select',
  'sql-binding',
  'sql-syntax',
  'template-syntax',
  'unknown-annotation',
  'unknown-key-column',
  'unknown-model',
])

/** Also where all models compile. */
export function failsByTexts(
  { failed, errors }: CompiledProject,
  { models, macros, unreadable = [] }: ProjectFiles,
): boolean {
  if (failed.size === 0) return true
  const all = [...failed.values()]
  const own = new Set(all.flatMap(({ mistakes }) => mistakes))
  if (unreadable.length > 0 || errors.some((error) => !own.has(error))) return false
  const paths = new Set(models.map(({ source }) => source.path))
  const isOfTexts = all.every(
    ({ source, mistakes }) =>
      paths.has(source.path) && mistakes.every((one) => OF_TEXTS.has(one.code)),
  )
  const isBound = [...own].some(({ code }) => code === 'sql-binding')
  const texts = [...all.map(({ source }) => source.text), ...macros.map(({ text }) => text)]
  return isOfTexts && !(isBound && texts.some(looksOutside))
}

/** By its words alone: a text that only seems to is compiled each time. */
function looksOutside(text: string): boolean {
  return tokenize(text).some((token) => {
    if (token.kind === 'string') return /[./*:\\]/.test(token.text)
    const name = nameOf(token)
    if (name === null) return false
    return token.kind === 'quoted' ? /[./*:\\]/.test(name) : OUTSIDE.test(name)
  })
}

const OUTSIDE =
  /^(?:read|glob|sniff|parquet|query|getenv|getvariable|current_setting|duckdb|pragma|iceberg|delta|sqlite|postgres|mysql|st|from_substrait|show|describe)(?:_|$)/i
