// The daemon follows the models on disk, and who may send events to them: all is reloaded at once, or nothing.

import type { CollectDaemon } from '../../collect/daemon.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { Project } from '../../project/project.ts'
import type { Settings } from '../../project/settings.ts'
import { loadInTime, logDiagnostics, logMistakes } from '../read-again.ts'
import { compileTargets } from './compile-targets.ts'
import { warnOfWiderAccess } from '../widened-access.ts'
import { sendersOf } from './open-daemon.ts'

export interface ReloadOptions {
  readonly load: () => Promise<Project>
  readonly started: Project
  readonly logger: Logger
  /** Stops the daemon. */
  readonly signal: AbortSignal
}

/** What reloads them. Other settings are read at the start only; of a change in them the log says so. */
export function reloadTargets(
  daemon: CollectDaemon,
  { load, started, logger, signal }: ReloadOptions,
): () => Promise<void> {
  let known = started
  return async () => {
    try {
      const project = await loadInTime(load)
      const settings = changedSettings(started.settings, project.settings)
      if (settings.length > 0) logger.warn('settings-need-restart', { settings })
      const { targets, mistakes } = await compileTargets(
        project,
        AbortSignal.any([signal, AbortSignal.timeout(limits.recompileMs)]),
      )
      logDiagnostics(mistakes, logger)
      const senders = await sendersOf(project, targets.keys())
      for (const target of daemon.setTargets(targets, senders)) warnOfLastSender(target, logger)
      warnOfWiderAccess('collect', known, project, logger)
      known = project
      logger.info('models-reloaded', { targets: [...targets.keys()] })
    } catch (error) {
      if (signal.aborted) return
      daemon.keepTargets()
      logMistakes(error, logger)
      logger.warn('models-stale', daemon.models)
    }
  }
}

/** Their names alone, since values may be secrets. */
const changedSettings = (before: Settings, now: Settings): readonly string[] =>
  Object.entries(now).flatMap(([name, value]) =>
    JSON.stringify(value) === JSON.stringify(before[name as keyof Settings]) ? [] : [name],
  )

const warnOfLastSender = (target: string, logger: Logger) =>
  logger.warn('last-token', {
    target,
    message: `the last webhook of ${target} was removed from collect.webhooks`,
    hint: 'restart the server to accept requests from anybody',
  })
