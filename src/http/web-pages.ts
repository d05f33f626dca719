// Web pages reach a loopback address too: from any site by a form or a script, or under their own host name that
// resolves to 127.0.0.1 (DNS rebinding). A server on such an address tells them by the headers Host and Origin.

import { isLoopback } from './auth.ts'

/** The name or address in a Host header, without the port; null if it is not a host. */
export function hostName(header: string): string | null {
  const [, name] = /^(\[[\da-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i.exec(header) ?? []
  return name?.toLowerCase() ?? null
}

/** A server on a loopback address answers to loopback names only. `name` as of hostName(). */
export function answersTo(name: string, listeningOn: string): boolean {
  return !isLoopback(listeningOn) || isLoopback(name)
}

/** On a loopback address, pages of `allowed` origins only, `*` being any; a program sends no Origin header. */
export function takesOrigin(
  origin: string | undefined,
  listeningOn: string,
  allowed: readonly string[],
): boolean {
  return (
    origin === undefined ||
    !isLoopback(listeningOn) ||
    allowed.some((one) => one === '*' || one === origin)
  )
}
