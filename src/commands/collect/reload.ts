// The daemon follows the models on disk: all of them are taken over at once, or none.

import type { CollectDaemon } from '../../collect/daemon.ts'
import { compile } from '../../compiler/compile.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject, EventsModel } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Project } from '../../project/project.ts'
import { logMistakes } from '../log-mistakes.ts'

/** Events do not wait for the sources that other models read. */
export async function compileTargets({ files, paths }: Project): Promise<Targets> {
  return eventsModels(await compile(files, { dir: paths.dir, withoutBrokenSources: true }))
}

type Targets = ReadonlyMap<ModelName, EventsModel>

/** Settings are read at the start only; of a change in them the log says so. */
export async function reloadTargets(
  daemon: CollectDaemon,
  load: () => Promise<Project>,
  started: Project,
  logger: Logger,
): Promise<void> {
  try {
    const project = await load()
    if (JSON.stringify(project.settings) !== JSON.stringify(started.settings))
      logger.warn('settings-need-restart')
    const targets = await compileTargets(project)
    daemon.setTargets(targets)
    logger.info('models-reloaded', { targets: [...targets.keys()] })
  } catch (error) {
    daemon.keepTargets()
    logMistakes(error, logger)
    logger.warn('models-stale', daemon.models)
  }
}

function eventsModels({ models }: CompiledProject): Targets {
  const events = [...models.values()].filter((model) => model.kind === 'events')
  return new Map(events.map((model) => [model.name, model]))
}
