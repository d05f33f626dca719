// Requests of a well-behaved client, by fetch. Requests that no client would send: raw-client.ts.

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  readonly error: { code: string; message: string; target?: string; details?: unknown[] }
}

/** Sends the bytes as they are and reads the answer, which is JSON or empty. */
export async function send(
  method: string,
  url: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Reply['body']
  const error = (json['error'] ?? {}) as Reply['error']
  return { status: response.status, headers: response.headers, body: json, error }
}

export const post = (
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
) => send('POST', url, body, headers)

/** Posts a value as JSON; a string is sent as it is. */
export const postJson = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
