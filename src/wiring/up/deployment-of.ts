// What this directory, this program and this user are, for a unit that starts `eider up`.

import { userInfo } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { UsageError } from '../../core/failures.ts'
import { packageDir } from '../../files/package.ts'
import type { Project } from '../../project/project.ts'
import { traitsOf } from '../../store/traits-of.ts'
import type { Deployment } from '../../supervisor/units.ts'
import type { UpFlags } from './programs.ts'

export function deploymentOf(project: Project, flags: UpFlags, version: string): Deployment {
  const { name, target, paths, settings } = project
  const { username, uid, gid } = userInfo()
  const { dir } = paths
  if (/\p{Cc}/u.test(dir))
    throw new UsageError(
      'the path of the project has a control character, which no service definition can contain',
      {
        hint: 'rename the directory',
      },
    )
  const spill = settings.temp_directory
  const { directory } = traitsOf(paths)
  const outside = [
    ...(directory === null ? [] : [directory]),
    ...(spill === null ? [] : [resolve(dir, spill)]),
  ].filter((path) => relative(dir, path).startsWith('..'))
  const switches = (['no-collect', 'no-serve', 'allow-anonymous'] as const).filter(
    (flag) => flags[flag],
  )
  return {
    project: name,
    target,
    version,
    dir,
    command: [
      process.execPath,
      join(packageDir, 'bin', 'run.js'),
      'up',
      '--project',
      dir,
      ...(target === null ? [] : ['--target', target]),
      ...switches.map((flag) => `--${flag}`),
      ...(flags.vars ?? []).flatMap((text) => ['--vars', text]),
    ],
    user: username,
    uid: Math.max(0, uid),
    gid: Math.max(0, gid),
    writable: [...new Set([dir, ...outside])],
    collectPort: flags['no-collect'] ? null : settings['collect.port'],
    isAnonymous: flags['allow-anonymous'],
    odataPort: flags['no-serve'] ? null : settings['odata.port'],
  }
}
