// `eider up` of the built command line on free ports, and what it has said.

import type { ServiceName, UpEvent, UpState } from '../../src/core/report/up.ts'
import { readUpState } from '../../src/supervisor/state-file.ts'
import { mistakes, schemaOf } from './json-schema.ts'
import { until } from './until.ts'
import type { Running, StartOptions, Workspace } from './workspace.ts'

type Named<Name extends UpEvent['event']> = Extract<UpEvent, { readonly event: Name }>

export interface UpProcess {
  readonly running: Running
  readonly ready: Named<'up-ready'>
  readonly all: <Name extends UpEvent['event']>(name: Name) => readonly Named<Name>[]
  /** Waits for as many of this name. */
  readonly saw: <Name extends UpEvent['event']>(name: Name, count: number) => Promise<Named<Name>>
  readonly state: () => Promise<UpState>
  readonly pidOf: (service: ServiceName) => Promise<number>
}

export const freePorts = { COLLECT_PORT: '0', COLLECT_ADMIN_PORT: '0', ODATA_PORT: '0' }

export async function startUp(
  space: Workspace,
  flags: readonly string[] = [],
  { env = {}, ...options }: StartOptions = {},
): Promise<UpProcess> {
  const running = await space.start(['up', ...flags], {
    ready: 'up-ready',
    env: { ...freePorts, ...env },
    ...options,
  })
  const known: UpEvent[] = []
  // Asked again and again, so each line is looked at once.
  const events = () => {
    const lines = running.stdout().split('\n').slice(known.length, -1)
    known.push(...lines.map((line) => checked(JSON.parse(line) as UpEvent)))
    return known
  }
  const all = <Name extends UpEvent['event']>(name: Name) =>
    events().filter((event): event is Named<Name> => event.event === name)
  const state = async () => (await until(() => readUpState(space.path('.eider'))))!
  return {
    running,
    ready: all('up-ready')[0]!,
    all,
    saw: async (name, count) => (await until(() => all(name)[count - 1]))!,
    state,
    pidOf: async (service) => {
      const { services } = await until(state, (now) =>
        now.services.some((one) => one.service === service && one.state === 'running'),
      )
      return services.find((one) => one.service === service)!.pid!
    },
  }
}

const { $defs: defs = {} } = schemaOf('events')

/** Names of all events that were looked at. */
export const seen = new Set<string>()

function checked(event: UpEvent): UpEvent {
  const wrong = mistakes(defs[event.event] ?? {}, event)
  if (wrong.length > 0) throw new Error(`${JSON.stringify(event)}: ${wrong.join(', ')}`)
  seen.add(event.event)
  return event
}

/** Whether a process is there. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
