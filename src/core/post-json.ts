// JSON for somebody else's HTTP server. The URL may be a secret: nothing that is returned has a part of it.

interface Posting {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

interface Posted {
  /** 0: there was no answer. */
  readonly status: number
  /** The status, or why there is none. */
  readonly answer: string
}

export async function postJson(
  url: string,
  body: string,
  { timeoutMs, signal }: Posting,
): Promise<Posted> {
  const timeout = AbortSignal.timeout(timeoutMs)
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
