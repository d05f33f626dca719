// A file on a web server is asked for before the engine reads it: the engine follows a redirect to any host, and says of
// most refusals that something went wrong.

import type { Explanation } from '../hints/engine-words.ts'
import type { ExternalSource } from '../../core/sources.ts'
import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import { SourceProblem, urlWithoutQuery } from './problems.ts'

const MAX_REDIRECTS = 5

/** What tells that it has changed; null: nothing does. Throws SourceProblem. */
export async function probeFile(
  { file, location }: { readonly file: string; readonly location: string },
  { secret, isProxied }: Pick<ExternalSource, 'secret' | 'isProxied'>,
): Promise<string | null> {
  // The engine takes the way through the proxy, which this process does not know.
  if (isProxied) return null
  const headers = secret?.type === 'http' ? { authorization: secret.authorization } : {}
  let url = new URL(location)
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await ask(url, headers, file)
    if (answer === null) return null
    const target = answer.headers.get('location')
    if (answer.status < 300 || answer.status >= 400 || target === null)
      return stampOf(answer, file, secret?.name)
    const next = URL.canParse(target, url.href) ? new URL(target, url) : null
    if (next?.host !== url.host || (url.protocol === 'https:' && next.protocol !== 'https:'))
      throw new SourceProblem({
        problem: `${urlWithoutQuery(file)} redirects to another host, ${next?.host ?? 'which has no URL'}`,
        hint: 'write the URL on that host, if it is one that you trust',
      })
    url = next
  }
  throw new SourceProblem({
    problem: `${urlWithoutQuery(file)} redirects in a loop`,
    hint: 'check the URL',
  })
}

/** null where only the engine can say what is wrong, such as with a certificate. */
async function ask(
  url: URL,
  headers: Readonly<Record<string, string>>,
  file: string,
): Promise<Response | null> {
  try {
    return await fetch(url.href, {
      method: 'HEAD',
      redirect: 'manual',
      headers: { ...headers, 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(limits.sourceConnectSeconds * 1_000),
    })
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { readonly code?: string } }
    const reason = reasonOf(name === 'TimeoutError' ? name : (cause?.code ?? ''), file)
    if (reason !== null) throw new SourceProblem(reason)
    return null
  }
}

function reasonOf(code: string, file: string): Explanation | null {
  const url = urlWithoutQuery(file)
  const hint = 'check the URL, and whether the server runs'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { problem: `the host of ${url} is unknown`, hint: 'check the name of the host' }
  if (code === 'ECONNREFUSED') return { problem: `nothing listens at ${url}`, hint }
  if (code === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return { problem: `${url} does not answer (${limits.sourceConnectSeconds} s)`, hint }
  return ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(code)
    ? { problem: `${url} cannot be reached`, hint }
    : null
}

function stampOf(
  { status, headers }: Response,
  file: string,
  secret: string | undefined,
): string | null {
  const refused = (problem: string, hint: string) => new SourceProblem({ problem, hint })
  if (status === 401 || status === 403)
    throw refused(
      `${urlWithoutQuery(file)} is refused (HTTP ${status})`,
      secret === undefined
        ? 'declare a secret of type http under secrets, and name it as "secret" of the source'
        : `check the secret "${secret}", and what it may read`,
    )
  if (status === 404 || status === 410)
    throw refused(`there is no file ${urlWithoutQuery(file)} (HTTP ${status})`, 'check the URL')
  if (status === 429 || status >= 500)
    // Not every server knows HEAD.
    if (status !== 501)
      throw refused(
        `${urlWithoutQuery(file)} is not available now (HTTP ${status})`,
        'run again later',
      )
  const tag = headers.get('etag') ?? headers.get('last-modified')
  if (status !== 200 || tag === null) return null
  return hashOf(16, [tag, headers.get('content-length')])
}
