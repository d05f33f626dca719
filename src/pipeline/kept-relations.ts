// What a project with mistakes keeps of what earlier runs have made: a mistake does not ask to remove a model.

import { mistakesOfNoModel } from '../compiler/failed-models.ts'
import type { CompiledProject } from '../core/model.ts'
import { foldCase } from '../core/names.ts'

/**
 * Whether files of models were found that have no name, or a directory of theirs could not be read. Then a model that the
 * project does not have may be one of them.
 */
export const mayHoldMoreModels = (project: CompiledProject): boolean =>
  mistakesOfNoModel(project).some(({ source: { path } }) => /^(?:models|seeds)(?:\/|$)/.test(path))

/** Whether the relation of a model that does not compile stays as it is. By name, in any letter case. */
export function keptRelations(project: CompiledProject): (name: string) => boolean {
  const namesOf = (models: ReadonlyMap<string, unknown>) =>
    new Set(Array.from(models.keys(), foldCase))
  const failed = namesOf(project.failed)
  const compiled = namesOf(project.models)
  const isHidden = mayHoldMoreModels(project)
  return (name) => failed.has(foldCase(name)) || (isHidden && !compiled.has(foldCase(name)))
}
