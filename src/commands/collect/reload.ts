// The daemon follows the models on disk: all of them are reloaded at once, or none.

import type { CollectDaemon } from '../../collect/daemon.ts'
import type { Logger } from '../../core/logger.ts'
import type { Project } from '../../project/project.ts'
import { logDiagnostics, logMistakes } from '../log-mistakes.ts'
import { compileTargets } from './compile-targets.ts'

export interface ReloadOptions {
  readonly load: () => Promise<Project>
  /** The project as it was when the daemon started. */
  readonly started: Project
  readonly logger: Logger
  /** Stops the daemon. */
  readonly signal: AbortSignal
}

/** Settings are read at the start only; of a change in them the log says so. */
export async function reloadTargets(
  daemon: CollectDaemon,
  { load, started, logger, signal }: ReloadOptions,
): Promise<void> {
  try {
    const project = await load()
    if (JSON.stringify(project.settings) !== JSON.stringify(started.settings))
      logger.warn('settings-need-restart')
    const { targets, mistakes } = await compileTargets(project, signal)
    logDiagnostics(mistakes, logger)
    daemon.setTargets(targets)
    logger.info('models-reloaded', { targets: [...targets.keys()] })
  } catch (error) {
    if (signal.aborted) return
    daemon.keepTargets()
    logMistakes(error, logger)
    logger.warn('models-stale', daemon.models)
  }
}
