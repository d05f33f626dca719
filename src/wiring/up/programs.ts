// The command lines of what `eider up` starts: this program again, with its other commands.

import { join } from 'node:path'
import { SUPERVISED } from '../../cli/signals.ts'
import type { ServiceName } from '../../core/report/up.ts'
import type { ScheduledRun } from '../../core/schedule.ts'
import { packageDir } from '../../files/package.ts'
import type { Project } from '../../project/project.ts'
import { lakeSecrets, settings as allSettings } from '../../project/settings.ts'
import type { Program } from '../../supervisor/child.ts'
import type { ServiceListening } from '../../supervisor/service.ts'

const lakeKeys = [allSettings['lake.s3_key_id'].env, ...lakeSecrets]

export interface UpFlags {
  readonly 'no-collect': boolean
  readonly 'no-serve': boolean
  readonly vars?: readonly string[] | undefined
  readonly quiet: boolean
  readonly verbose: boolean
  readonly 'allow-anonymous': boolean
}

/** `check`: `eider check`, for the selectors of the schedule. */
export function programs({ paths, target, settings }: Project, flags: UpFlags) {
  const { vars = [] } = flags
  const shared = [
    '--json',
    '--no-color',
    '--project',
    paths.dir,
    ...(target === null ? [] : ['--target', target]),
  ]
  const talk = [...(flags.quiet ? ['--quiet'] : []), ...(flags.verbose ? ['--verbose'] : [])]
  const ofModels = vars.flatMap((text) => ['--vars', text])
  const open = flags['allow-anonymous'] ? ['--allow-anonymous'] : []
  const program = (words: readonly string[], env: Program['env'] = {}): Program => ({
    command: process.execPath,
    args: [join(packageDir, 'bin', 'run.js'), ...words, ...shared],
    cwd: paths.dir,
    env: { ...process.env, [SUPERVISED]: String(process.pid), ...env },
  })
  const withoutKeys = Object.fromEntries(lakeKeys.map((name) => [name, undefined]))
  // A service on a free port keeps it when it is started again: clients know it by then.
  const kept = (flag: string, setting: number, url: string | null | undefined) =>
    setting === 0 && url != null ? [flag, new URL(url).port] : []
  return {
    service: (name: ServiceName, before: ServiceListening | null) => {
      const admin = kept('--admin-port', settings['collect.admin_port'], before?.adminUrl)
      const port = (setting: number) => kept('--port', setting, before?.url)
      const words = {
        collect: [
          'collect',
          'daemon',
          ...open,
          ...ofModels,
          ...port(settings['collect.port']),
          ...admin,
        ],
        serve: ['serve', ...open, ...port(settings['odata.port'])],
        pull: ['pull', '--every', '5s'],
      }
      // The others answer strangers, and work without what opens a lake.
      return program([...words[name], ...talk], name === 'pull' ? {} : withoutKeys)
    },
    run: ({ select, exclude }: ScheduledRun, collect: ServiceListening | null) => {
      const selectors = [
        ...select.flatMap(({ text }) => ['--select', text]),
        ...exclude.flatMap(({ text }) => ['--exclude', text]),
      ]
      const adminUrl = collect?.adminUrl ?? null
      const env = adminUrl === null ? {} : { COLLECT_ADMIN_PORT: new URL(adminUrl).port }
      return program(['run', ...talk, ...ofModels, ...selectors], env)
    },
    check: program(['check', ...ofModels]),
  }
}

/** For `--run-now` without a schedule. */
export const runOnce: ScheduledRun = {
  name: 'run',
  when: 'once',
  select: [],
  exclude: [],
  dueAfter: () => Infinity,
}
