// An error as a page, for a person whose browser has gone to an address of the service. Programs get JSON.

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { ErrorBody } from '../../http/respond.ts'
import type { RequestError } from '../../http/request-error.ts'

/** All browsers begin so where a person opens an address, and no client of OData does. */
const OF_A_BROWSER = /^text\/html, ?application\/xhtml\+xml/

export const isForPerson = ({ method, url = '', headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  OF_A_BROWSER.test(headers.accept ?? '') &&
  !/[?&](?:\$|%24)format=/i.test(url)

/** Nothing is loaded by it and nothing runs in it. What is said comes from the request, so it is text only. */
export function errorPage(error: RequestError, url: string): ErrorBody {
  const [path = '/'] = url.split('?', 1)
  // Relative, so that it is right with a proxy in between too.
  const root = '../'.repeat(path.split('/').length - 2) || './'
  const title = titleOf(error)
  const way =
    error.status === 401
      ? '<p>Load the page again to be asked for a token: any user name, and the token as the password. A new one comes from the person who gave you the first.</p>'
      : `<p><a href="${root}">To the first page</a></p>`
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escaped(error.message)}</p>
${way}
</main>
</body>
</html>
`
  return { type: 'text/html; charset=utf-8', body, headers: HEADERS }
}

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  Vary: 'Accept',
}

function titleOf({ status, code }: RequestError): string {
  if (code === 'token-expired') return 'Your token has expired'
  if (status === 401) return 'This service asks for a token'
  if (status === 404) return 'Nothing is here'
  return STATUS_CODES[status] ?? String(status)
}

const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
