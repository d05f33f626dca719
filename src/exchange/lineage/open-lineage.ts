// The lineage of one run of the command line, told to a collector of OpenLineage and to a file; nothing where neither is
// set.

import { resolve } from 'node:path'
import { hide, type HiddenValue } from '../../core/hidden.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { RunEvent } from '../../core/report/progress.ts'
import { Outbox } from './outbox.ts'
import { RunEvents, type RunName } from './run-events.ts'
import { type LineageWay, ways } from './ways.ts'

interface LineageSettings {
  readonly url: string | null
  readonly token: string | null
  readonly namespace: string
  /** Relative to the project directory. */
  readonly file: string | null
  /** Why the collector is told nothing, though one is set. */
  readonly problem: string | null
}

interface LineageOptions {
  readonly settings: LineageSettings
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly versions: { readonly eider: string; readonly duckdb: string }
  /** Values that no event may repeat. */
  readonly hidden: readonly HiddenValue[]
}

export interface LineageOfRun {
  readonly note: (event: RunEvent) => void
  /** `ok`: null where the run ended with an error. Never throws, and ends within limits.lineageEndMs. */
  readonly send: (ok: boolean | null, logger: Logger) => Promise<void>
}

/** null: nobody wants to know. */
export function openLineage(
  project: CompiledProject,
  { settings, dir, env, versions, hidden }: LineageOptions,
): LineageOfRun | null {
  if (env['OPENLINEAGE_DISABLED']?.toLowerCase() === 'true') return null
  const { url, token, namespace, file, problem } = settings
  const recipients: Readonly<Record<LineageWay, string | null>> = {
    collector: url === null || problem !== null ? null : lineageUrl(url),
    file: file === null ? null : resolve(dir, file),
  }
  const outboxes = (Object.keys(recipients) as readonly LineageWay[]).flatMap((way) => {
    const to = recipients[way]
    return to === null ? [] : [{ way, outbox: new Outbox(ways[way]({ to, token })) }]
  })
  if (outboxes.length === 0 && problem === null) return null
  const lanes = new Map<string, number>()
  const send = (event: object, job: string) => {
    const text = JSON.stringify(event)
    const lane = lanes.get(job) ?? lanes.size
    lanes.set(job, lane)
    for (const { outbox } of outboxes) outbox.add(text, lane)
  }
  const parent = parentOf(env['OPENLINEAGE_PARENT_ID'] ?? '')
  const events = new RunEvents({ project, dir, namespace, parent, versions, hidden, send })
  // A run goes on whatever happens here: it is called from the middle of it.
  const tell = (what: () => void) => {
    try {
      what()
    } catch (error) {
      const why = `the event cannot be made: ${hide(String(error), hidden)}`
      for (const { outbox } of outboxes) outbox.lose(why)
    }
  }
  return {
    note: (event) => tell(() => events.note(event)),
    async send(ok, logger) {
      tell(() => events.end(ok))
      if (problem !== null) logger.warn('lineage-not-sent', { to: 'collector', problem })
      await Promise.all(
        outboxes.map(async ({ way, outbox }) => {
          const { lost, events: all, problem: why } = await outbox.end(limits.lineageEndMs)
          if (lost > 0)
            logger.warn('lineage-not-sent', { to: way, lost, events: all, problem: why })
        }),
      )
    },
  }
}

/** The address for events; as in other clients, the base of a collector is enough. */
export function lineageUrl(text: string): string {
  const url = new URL(text)
  if (!/\/lineage\/?$/.test(url.pathname))
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/lineage`
  return url.href
}

/** `namespace/job/run id`, as other tools hand it to what they start. One that is malformed is passed over. */
function parentOf(text: string): RunName | null {
  const [, namespace, name, runId] =
    /^(.+)\/([^/]+)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(text) ?? []
  return namespace === undefined ? null : { namespace, name: name!, runId: runId! }
}
