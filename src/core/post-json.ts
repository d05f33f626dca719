// JSON for somebody else's HTTP server. The URL may be a secret: nothing that is returned has a part of it.

interface Posting {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** An answer up to this length is read, so that the connection can be used again. */
  readonly answerBytes?: number
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
  { headers = {}, timeoutMs, answerBytes = 0, signal }: Posting,
): Promise<Posted> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'eider', ...headers },
      body,
      // To another address nobody has asked it to go.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    })
    // What a long answer says, nobody wants to know.
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    if (length <= answerBytes) await response.arrayBuffer()
    else await response.body?.cancel()
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
