// A notification over HTTP. The URL may be a secret: nothing that is returned has a part of it.

import { limits } from '../../core/limits.ts'
import { postJson } from '../../core/post-json.ts'
import { pause } from '../restarts.ts'
import type { Delivery } from './delivery.ts'

/** Tries again where that may help: after no answer, 408, 429 and 5xx. */
export async function postWebhook(
  url: string,
  body: string,
  signal: AbortSignal,
): Promise<Delivery> {
  const posting = { timeoutMs: limits.webhookTimeoutMs, signal }
  for (let tries = 1; ; tries++) {
    const { answer, status } = await postJson(url, body, posting)
    const isLast = tries > limits.webhookRetryMs.length || signal.aborted
    if (status >= 200 && status < 300) return { ok: true, tries, answer }
    const isRefused = status >= 300 && status < 500 && status !== 408 && status !== 429
    if (isRefused || isLast) return { ok: false, tries, answer }
    await pause(limits.webhookRetryMs[tries - 1]!, signal)
    if (signal.aborted) return { ok: false, tries, answer }
  }
}
