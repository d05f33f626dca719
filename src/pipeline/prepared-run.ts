// A run as a command starts it: the project is compiled, and what a run needs is brought meanwhile. Where the run before
// has noted what it left, only the compile is loaded, and the run may end without the engine. Else the code of a run is
// loaded while the engine compiles, and the warehouse is opened once the compile meets a change.

import type { ClaimSource } from '../buffer/claim-source.ts'
import { compileOnce } from '../compiler/compile-once.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { RunSummary } from '../core/report/progress.ts'
import { Resources } from '../core/resources.ts'
import type { WriteOptions } from '../store/warehouse.ts'
import { openAhead } from './open-ahead.ts'
import type { NoteDraft } from './results.ts'
import type { RunRequest, TargetAhead } from './run-request.ts'

export interface Preparation {
  readonly files: ProjectFiles
  readonly paths: ProjectPaths
  readonly engine: WriteOptions
  /** null: the run is not one that may find nothing to do. */
  readonly notes: RunNotes | null
}

/** What the run before has noted of what it left (idle.ts). */
export interface RunNotes {
  /** null: nothing. */
  readonly note: object | null
  readonly knownHashes: ReadonlyMap<string, string>
  /** null: nothing can be noted of this project. */
  draft(project: CompiledProject): NoteDraft | null
  /** null: nothing was recorded or announced, and there may be something to do. */
  run(run: RunWithoutEngine): Promise<RunSummary | null>
}

export interface RunWithoutEngine extends Pick<
  RunRequest,
  | 'project'
  | 'selection'
  | 'failFast'
  | 'allowEmpty'
  | 'allowRemoval'
  | 'signal'
  | 'progress'
  | 'logger'
> {
  /** Whether events wait in the buffer, for any model or none. */
  readonly hasWaitingEvents: () => Promise<boolean>
  readonly openClaims: () => Promise<ClaimSource>
}

export interface PreparedRequest
  extends
    Omit<
      RunRequest,
      keyof WriteOptions | 'paths' | 'store' | 'project' | 'ahead' | 'draftNote' | 'openClaims'
    >,
    Pick<RunWithoutEngine, 'openClaims' | 'hasWaitingEvents'> {
  /** In any case. */
  readonly needsEngine: boolean
}

export interface PreparedRun extends AsyncDisposable {
  readonly project: CompiledProject
  /** Once. As runPipeline(). */
  run(request: PreparedRequest): Promise<RunSummary>
}

/** Throws as compileOnce() does. */
export async function prepareRun(preparation: Preparation): Promise<PreparedRun> {
  const { files, paths, engine, notes } = preparation
  const { dir, state } = paths
  await using resources = new Resources()
  let ahead = null as TargetAhead | null
  const onChanged = async () => {
    const { openStore } = await import('../store/open.ts')
    ahead = await openAhead(openStore(paths), engine)
    if (ahead !== null) resources.use(ahead)
  }
  const load = () => Promise.all([import('./run.ts'), import('../store/open.ts')])
  const known = notes?.knownHashes
  const isNoted = notes !== null && notes.note !== null
  const [project] = await Promise.all([
    compileOnce(files, { dir, state, save: true, known, onChanged }),
    isNoted ? null : load(),
  ])
  const unused = resources.move()
  return {
    project,
    async run({ hasWaitingEvents, needsEngine, ...request }) {
      if (ahead === null && isNoted && !needsEngine) {
        const { signal } = engine
        const summary = await notes.run({ ...request, project, hasWaitingEvents, signal })
        if (summary !== null) return summary
      }
      const [{ runPipeline }, { openStore }] = await load()
      unused.move() // from here on they are the run's
      const draftNote = () => notes?.draft(project) ?? null
      const store = openStore(paths)
      return await runPipeline({ ...engine, ...request, paths, store, project, ahead, draftNote })
    },
    [Symbol.asyncDispose]: () => unused[Symbol.asyncDispose](),
  }
}
