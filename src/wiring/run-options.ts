// The options of a run that come from the settings of a project.

import { resolve } from 'node:path'
import { processors } from '../core/machine.ts'
import type { RunRequest } from '../pipeline/run-request.ts'
import type { Project } from '../project/project.ts'

type SettingsOfRun = Pick<
  RunRequest,
  'threads' | 'memoryLimit' | 'tempDir' | 'maxTempSize' | 'extensions'
> &
  Required<Pick<RunRequest, 'modelsAtOnce' | 'retention' | 'failingRows'>>

/** The directory for temporary files is relative to the project's, even when a copy of it is run. */
export function runOptionsOf({ paths, settings, files }: Project): SettingsOfRun {
  return {
    threads: settings.threads,
    memoryLimit: settings.memory_limit,
    tempDir: settings.temp_directory && resolve(paths.dir, settings.temp_directory),
    maxTempSize: settings.max_temp_size,
    extensions: files.extensions,
    modelsAtOnce: Math.min(4, processors()),
    failingRows: settings.failing_rows,
    retention: {
      snapshots: settings['odata.keep_snapshots'],
      ms: settings['odata.keep_minutes'] * 60_000,
      apartPercent: settings['odata.apart_percent'],
    },
  }
}
