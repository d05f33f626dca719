// The trace of one run of the command line; nothing where no endpoint is set.

import type { Logger } from '../../core/logger.ts'
import type { RunSummary, Phase, RunEvent } from '../../core/report/progress.ts'
import { RunTrace } from './run-trace.ts'
import { traceSettings, type TraceSettings } from './trace-settings.ts'

export interface OpenTrace {
  readonly note: (event: RunEvent) => void
  readonly notePhase: (phase: Phase) => void
  /** `ok`: null where the run ended with an error. Never throws. */
  readonly send: (ok: boolean | null, logger: Logger) => Promise<void>
}

/** null: none is wanted. */
export function openTrace(
  env: Readonly<Record<string, string | undefined>>,
  startedMs: number,
  { version, target }: { readonly version: string; readonly target: string | null },
): OpenTrace | null {
  const settings = traceSettings(env, version)
  if (settings === null) return null
  if (typeof settings === 'string') {
    const nothing = () => {}
    const send = async (_: boolean | null, logger: Logger) =>
      logger.warn('trace-not-sent', { error: settings })
    return { note: nothing, notePhase: nothing, send }
  }
  const trace = new RunTrace(settings, startedMs)
  return {
    note: (event) => trace.note(event),
    notePhase: (phase) => trace.notePhase(phase),
    send: (ok, logger) => sendTrace(settings, trace.request(ok, target), logger),
  }
}

/**
 * Sends the traces, and what else follows a run, when `run` has ended, however it ended; what is printed of a run does not
 * wait for `sent`.
 */
export async function traced(
  traces: readonly Pick<OpenTrace, 'send'>[],
  logger: Logger,
  run: () => Promise<RunSummary>,
) {
  const send = (ok: boolean | null) => Promise.all(traces.map((trace) => trace.send(ok, logger)))
  try {
    const summary = await run()
    return { summary, sent: send(summary.ok) }
  } catch (error) {
    await send(null)
    throw error
  }
}

/** Ends within the time limit of the settings. */
async function sendTrace(
  { endpoint, headers, timeoutMs }: TraceSettings,
  request: object,
  logger: Logger,
): Promise<void> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(request),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    if (!response.ok) logger.warn('trace-not-sent', { status: response.status })
  } catch (error) {
    // Neither the URL nor a header: both may hold a key.
    const { name, cause } = error as Error & { readonly cause?: { readonly code?: string } }
    const why = name === 'TimeoutError' ? `no answer within ${timeoutMs} ms` : (cause?.code ?? name)
    logger.warn('trace-not-sent', { error: why })
  }
}
