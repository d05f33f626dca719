// What `eider erase` needs of a project: the model, the condition as SQL, and how far it reaches.

import { existsSync } from 'node:fs'
import { damagedEvents } from '../buffer/damaged.ts'
import { compileAll } from '../compiler/compile.ts'
import { parseCondition } from '../compiler/condition.ts'
import { knownModels } from '../compiler/select.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { kinds } from '../core/kinds.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { LeftPlace } from '../core/report/erased.ts'
import { didYouMean } from '../core/suggest.ts'
import { findRows } from '../pipeline/erase/deletion.ts'
import type { EraseOutcome, EraseRequest } from '../pipeline/erase/erase.ts'
import { reachOf } from '../pipeline/erase/reach.ts'
import { mistakesOf } from '../compiler/mistakes.ts'
import { projectPathsOf } from '../project/load.ts'
import { readModelTests } from '../project/model-tests.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import { runOptionsOf } from './run-options.ts'

interface ErasingOptions extends Pick<
  EraseRequest,
  'all' | 'unreadable' | 'rewrite' | 'lockWaitMs' | 'signal' | 'progress'
> {
  readonly logger: Logger
}

/** Throws UsageError, DiagnosticsError, EnvironmentError `warehouse-missing`. */
export async function openErasing(
  project: Project,
  asked: { readonly model: string; readonly condition: string },
  options: ErasingOptions,
): Promise<EraseRequest> {
  const { paths, files } = project
  const store = openStore(paths)
  const compiled = await compileAll(files, { dir: paths.dir })
  const model = modelOf(compiled, asked.model)
  const condition = await parseCondition(asked.condition, model, files.extensions)
  const reach = reachOf(compiled, model, condition.columns)
  refuseFailed(compiled, model)
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', 'there is no warehouse yet', {
      hint: 'eider run creates it',
    })
  const damaged = (await damagedEvents(paths.buffer)).filter(({ target }) =>
    sameName(target, model.name),
  )
  const { retention: _, ...engine } = runOptionsOf(project)
  const { logger } = options
  return {
    ...engine,
    ...options,
    paths,
    project: compiled,
    model,
    condition,
    reach,
    damaged,
    openClaims: async () => (await import('./claims.ts')).openClaims(project, logger),
  }
}

/** `--dry-run`: what is there now, without what waits in the buffer. */
export async function searchOnly(request: EraseRequest): Promise<EraseOutcome> {
  const { paths, project, model, reach } = request
  const store = openStore(paths)
  await using warehouse = await store.warehouse.openToRead(request)
  await using connection = await warehouse.connect()
  const known = await store.state.read(connection, knownModels(project).keys())
  const { places, left } = await findRows({ ...request, store, connection, known })
  const erased = places.filter(({ count }) => count > 0)
  // What is neither deleted from nor left alone: also period models, whose periods are made anew.
  const isSearched = (one: Model) => places.some(({ model: name }) => name === one.name)
  const others = reach.all.filter((one) => !isSearched(one) && !reach.unreached.includes(one))
  return {
    model: model.name,
    erased,
    rebuilt: others.map(({ name }) => name),
    files_removed: 0,
    bytes_rewritten: 0,
    left,
    unfinished: null,
  }
}

/** Rows that tests have recorded are files of the project. */
export async function leftInTests({
  paths,
  reach,
}: Pick<EraseRequest, 'paths' | 'reach'>): Promise<readonly LeftPlace[]> {
  const isAbout = (name: string) => reach.all.some((model) => sameName(model.name, name))
  const tests = (await readModelTests(paths.dir)).filter(({ model, runs }) =>
    [model, ...runs.flatMap(({ given }) => given.map(({ relation }) => relation))].some(isAbout),
  )
  return tests.map(({ path }) => ({
    what: `${path}, a test that may have recorded the rows`,
    next: 'look at its files',
  }))
}

/**
 * Other targets that have published on this machine: they have separate rows, and copies that runs took `--from`
 * this one, in which the condition may mean nothing: these are built again by `--rewrite`.
 */
export function leftInTargets(
  { paths, target, targets }: Pick<Project, 'paths' | 'target' | 'targets'>,
  { model }: Pick<EraseRequest, 'model'>,
): readonly LeftPlace[] {
  const snapshotsOf = (name: string | null) =>
    projectPathsOf(paths.dir, paths.database, name, true).snapshots
  const same = `eider erase ${model.name} "…"`
  const others = targets.map((name) => ({
    name,
    what: `the target ${name}`,
    published: snapshotsOf(name),
    next: `${same} --target ${name} --rewrite`,
  }))
  const main = {
    name: null,
    what: 'the target without a name',
    published: snapshotsOf(null),
    next: `${same}, without a target`,
  }
  return [main, ...others]
    .filter(({ name, published }) => name !== target && existsSync(published))
    .map(({ what, next }) => ({ what: `${what}, which has separate rows`, next }))
}

function modelOf(project: CompiledProject, asked: string): Model {
  const known = knownModels(project)
  const found = [...known.values()].find(({ name }) => sameName(name, asked))
  if (found === undefined)
    throw new UsageError(`no model is named "${asked}"`, {
      hint: didYouMean(asked, known.keys()) ?? 'eider ls lists the models',
    })
  if ('mistakes' in found) throw new DiagnosticsError(mistakesOf(project, [found.name]))
  if (kinds[found.kind].keepsRows) return found
  const [first] = found.dependsOn
  throw new UsageError(`${found.name} is a ${found.kind}, which a run makes from nothing`, {
    hint:
      found.kind === 'seed'
        ? `delete the rows in ${found.source.path}, then: eider run`
        : first === undefined
          ? 'delete the rows where it takes them from'
          : `erase the rows where they are kept, such as in ${first}`,
  })
}

/** A model that does not compile keeps its rows, and what is published of them. */
function refuseFailed(project: CompiledProject, model: Model): void {
  const known = knownModels(project)
  const isMadeFrom = (name: ModelName, seen = new Set<ModelName>()): boolean => {
    if (name === model.name) return true
    if (seen.has(name)) return false
    seen.add(name)
    return known.get(name)?.dependsOn.some((input) => isMadeFrom(input, seen)) === true
  }
  const failed = [...project.failed.keys()].filter((name) => isMadeFrom(name))
  if (failed.length > 0) throw new DiagnosticsError(mistakesOf(project, failed))
}
