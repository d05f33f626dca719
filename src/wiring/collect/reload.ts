// The daemon follows the models on disk, and who may send events to them: all is reloaded at once, or nothing.

import type { CollectDaemon } from '../../collect/daemon.ts'
import type { Logger } from '../../core/logger.ts'
import type { Project } from '../../project/project.ts'
import { logDiagnostics, logMistakes } from '../log-mistakes.ts'
import { compileTargets } from './compile-targets.ts'
import { sendersOf } from './senders-of.ts'

export interface ReloadOptions {
  readonly load: () => Promise<Project>
  /** The project as it was when the daemon started. */
  readonly started: Project
  readonly logger: Logger
  /** Stops the daemon. */
  readonly signal: AbortSignal
}

/** Other settings are read at the start only; of a change in them the log says so. */
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
    const senders = await sendersOf(project, targets.keys())
    daemon.setTargets(targets, senders)
    logger.info('models-reloaded', { targets: [...targets.keys()] })
  } catch (error) {
    if (signal.aborted) return
    daemon.keepTargets()
    logMistakes(error, logger)
    logger.warn('models-stale', daemon.models)
  }
}
