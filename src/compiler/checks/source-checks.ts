// Checks of tables of sources, which no run builds: each model that reads the table has them among its own, so a bad
// source costs those that read it, as one that is too old does.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { CompiledExternal } from '../../core/sources.ts'
import type { Check, Model } from '../../core/model.ts'
import type { ProjectFiles } from '../../core/project.ts'
import { definitionOf } from '../definition.ts'
import { type CheckContext, resolveDeclared } from './checks.ts'

export interface SourceChecks {
  /** By the name of the table. */
  readonly checks: ReadonlyMap<string, readonly Check[]>
  readonly mistakes: ReadonlyMap<string, readonly Diagnostic[]>
  readonly diagnostics: readonly Diagnostic[]
}

/** Checks of the tables whose columns are known. */
export async function checksOfSources(
  { sources = [] }: ProjectFiles,
  tables: readonly CompiledExternal[],
  context: CheckContext,
): Promise<SourceChecks> {
  const checks = new Map<string, readonly Check[]>()
  const mistakes = new Map<string, readonly Diagnostic[]>()
  for (const source of sources)
    for (const { name, checks: declared = [] } of source.tables) {
      const table = tables.find((one) => one.name === `${source.name}.${name}`)
      if (table === undefined || declared.length === 0) continue
      const found = await resolveDeclared(declared, table.name, table.columns, context)
      checks.set(
        table.name,
        found.checks.map((check) => ({ ...check, on: table.name })),
      )
      mistakes.set(table.name, [
        ...found.diagnostics,
        ...found.checks.flatMap((check) => circular(check)),
      ])
    }
  return { checks, mistakes, diagnostics: [...mistakes.values()].flat() }
}

/** A model that reads the source would wait for one that may read it too. */
function circular({ test, source, span }: Check): readonly Diagnostic[] {
  if (test.is !== 'references' || source === undefined) return []
  const problem = 'a source is checked before the models, so it cannot refer to one'
  const hint = 'write a file in checks/ that selects the rows without a partner'
  return [diagnostic('invalid-check', { problem }, { source, span }, hint)]
}

export function withSourceChecks(
  model: Model,
  checks: ReadonlyMap<string, readonly Check[]>,
): Model {
  const own = model.sources.flatMap((table) => checks.get(table) ?? [])
  if (own.length === 0) return model
  const parts = own.map(({ severity, text, on }) => [severity, text, on])
  return {
    ...model,
    checks: [...model.checks, ...own],
    definition: definitionOf(model.definition, parts),
  }
}
