// The compile of a project with a directory for its state, as commands ask for it. Of a project with sources
// `.eider/sources.json` has the columns of their tables, for when one of them is away; all others are kept from one command
// to the next (cache/).

import { join } from 'node:path'
import { readTextLater } from '../files/read-file.ts'
import type { CompiledExternal } from '../core/sources.ts'
import type { CompiledProject } from '../core/model.ts'
import { byPlace } from '../core/diagnostics.ts'
import type { ProjectFiles } from '../core/project.ts'
import { replaceIfPossible } from '../files/durable-files.ts'
import { boardMistakes } from './boards.ts'
import { type CachedOptions, compileCached } from './cache/compile-cached.ts'

/** Does what compileAll() does, and warns of boards too. */
export async function compileOnce(
  files: ProjectFiles,
  options: CachedOptions,
): Promise<CompiledProject> {
  const compiled = await compileModels(files, options)
  const warnings = boardMistakes(files.boards ?? [], compiled)
  return warnings.length === 0
    ? compiled
    : { ...compiled, warnings: [...compiled.warnings, ...warnings].toSorted(byPlace) }
}

async function compileModels(
  files: ProjectFiles,
  options: CachedOptions,
): Promise<CompiledProject> {
  // Sources are always read again.
  if (!files.sources?.length) return compileCached(files, options)
  return compileAnew(files, options)
}

/** The columns that tables of sources had last stand for those of one that is away. */
async function compileAnew(
  files: ProjectFiles,
  { dir, state, save }: CachedOptions,
): Promise<CompiledProject> {
  const { compileAll } = await import('./compile.ts')
  const path = join(state, 'sources.json')
  const knownTables = await readKnownTables(path)
  const project = await compileAll(files, { dir, knownTables })
  const tables = project.external?.tables ?? []
  if (save && JSON.stringify(tables) !== JSON.stringify(knownTables))
    await replaceIfPossible(path, JSON.stringify(tables))
  return project
}

async function readKnownTables(path: string): Promise<readonly CompiledExternal[]> {
  try {
    return JSON.parse(await readTextLater(path)) as readonly CompiledExternal[]
  } catch {
    return [] // no run yet, or one was cut short
  }
}
