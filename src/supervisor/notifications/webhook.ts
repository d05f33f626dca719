// A notification over HTTP. The URL may be a secret: nothing that is returned has a part of it.

import { limits } from '../../core/limits.ts'
import { pause } from '../restarts.ts'
import type { Delivery } from './delivery.ts'

/** Tries again where that may help: after no answer, 408, 429 and 5xx. */
export async function postWebhook(
  url: string,
  body: string,
  signal: AbortSignal,
): Promise<Delivery> {
  for (let tries = 1; ; tries++) {
    const { answer, status } = await post(url, body, signal)
    const isLast = tries > limits.webhookRetryMs.length || signal.aborted
    if (status >= 200 && status < 300) return { ok: true, tries, answer }
    const isRefused = status >= 300 && status < 500 && status !== 408 && status !== 429
    if (isRefused || isLast) return { ok: false, tries, answer }
    await pause(limits.webhookRetryMs[tries - 1]!, signal)
    if (signal.aborted) return { ok: false, tries, answer }
  }
}

async function post(url: string, body: string, signal: AbortSignal) {
  const timeout = AbortSignal.timeout(limits.webhookTimeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'eider' },
      body,
      // To another address nobody has asked it to go.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    })
    await response.body?.cancel()
    return { status: response.status, answer: String(response.status) }
  } catch (error) {
    return { status: 0, answer: timeout.aborted ? 'no answer in time' : reasonOf(error) }
  }
}

/** Codes such as ECONNREFUSED; messages may have the URL in them. */
function reasonOf(error: unknown): string {
  const { code, name, cause } = error as NodeJS.ErrnoException
  const inner = (cause as NodeJS.ErrnoException | undefined)?.code
  return inner ?? (typeof code === 'string' ? code : name)
}
