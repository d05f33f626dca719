// A server reads its project again without waiting for ever: a change that comes meanwhile would wait too.

import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Project } from '../project/project.ts'

/** Throws EnvironmentError `project-unreadable` after the time for it. The reading itself cannot be cancelled. */
export function loadInTime(load: () => Promise<Project>): Promise<Project> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), limits.reloadMs)
    void load()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

const tooSlow = () =>
  new EnvironmentError(
    'project-unreadable',
    `the files of the project could not be read within ${limits.reloadMs / 1000} s`,
    { hint: 'check the disk that they are on' },
  )
