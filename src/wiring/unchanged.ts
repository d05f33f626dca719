// For commands that need no engine where all is as the last run has noted (pipeline/idle.ts).

import { hashOf } from '../core/hash.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ProjectPaths } from '../core/project.ts'
import { Idle, type IdleNote, type IdleScope } from '../pipeline/idle.ts'
import type { Project } from '../project/project.ts'
import { traitsOf } from '../store/traits-of.ts'
import { runOptionsOf } from './run-options.ts'

/** null: what a run of the target depends on is not known without its engine. */
export async function openIdle(project: Project): Promise<Idle | null> {
  const scope = scopeOf(project)
  if (scope !== null) return Idle.open(scope)
  return null
}

function scopeOf(project: Project): IdleScope | null {
  const { paths, settings, files } = project
  const { extensions, retention, failingRows } = runOptionsOf(project)
  const { idle: target } = traitsOf(paths)
  const hasMore = (extensions?.names.length ?? 0) + (files.sources?.length ?? 0) > 0
  if (target === undefined || hasMore) return null
  const keepsFailingRows = failingRows > 0
  return { target, paths, retention, keepsFailingRows, settings: hashOf(32, [settings]) }
}

export async function hasWaitingEvents({ buffer }: ProjectPaths): Promise<boolean> {
  const { waitingBytes } = await import('../buffer/waiting.ts')
  return (await waitingBytes(buffer)).size > 0
}

export interface Unchanged {
  readonly compiled: CompiledProject
  /** null: it does not hold any more, or a run is at work. */
  readonly note: IdleNote | null
}

/** null: nothing is noted, and nothing compiled. `save`: as in compileOnce(). Throws DiagnosticsError as it does. */
export async function readUnchanged(project: Project, save: boolean): Promise<Unchanged | null> {
  const idle = await openIdle(project)
  if (idle?.note == null) return null
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const { paths, files } = project
  const compiled = await compileOnce(files, { ...paths, save, known: idle.knownHashes })
  // What has failed is still to be built.
  const isDone = idle.note.failures.length === 0
  const holds = isDone && (await idle.isUnchanged(compiled)) && !(await hasWaitingEvents(paths))
  return { compiled, note: holds ? idle.note : null }
}
