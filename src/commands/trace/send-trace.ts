// Sends the trace of a run. Whatever happens to it is a warning at most: the run is over by then.

import type { Logger } from '../../core/logger.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Ends within the time limit of the settings. */
export async function sendTrace(
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
