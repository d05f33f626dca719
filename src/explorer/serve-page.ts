// The page of the explorer over HTTP: one HTML file for all its routes, and the files that it loads.
//
// Nothing is filled into the HTML. The page learns from its own address where the service lies, and asks it for the rest.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { entitySetName } from '../core/names.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { keepCoded } from '../http/content-coding.ts'
import type { SidePage } from '../http/side-pages.ts'

/** The bundler's directory: `index.html`, and files whose names change with their content. */
export async function readPage(dir: string): Promise<Page> {
  const files = new Map<string, SidePage>()
  for (const name of await readdir(dir)) {
    const type = TYPES[extname(name)]
    if (type === undefined || !HASHED.test(name)) continue
    const headers = { ...PAGE_HEADERS, 'Content-Type': type, 'Cache-Control': FOR_EVER }
    files.set(name, { status: 200, headers, body: keepCoded(await readFile(join(dir, name))) })
  }
  const html = await readFile(join(dir, 'index.html'), 'utf8')
  return { files, atDepth: DEPTHS.map((depth) => pageAt(html, depth)) }
}

interface Page {
  readonly files: ReadonlyMap<string, SidePage>
  /** The HTML by the number of directories that its address lies below the root. */
  readonly atDepth: readonly SidePage[]
}

/** The policy of the page: its own script and style, its own host, in no frame. */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

const HASHED = /-[\w-]{8,}\.\w+$/
/** Private, because the page needs a token: shared caches must not keep it. */
const FOR_EVER = 'private, max-age=31536000, immutable'
const FILES = '/explorer/'
/** `/`, `/sets/orders`, `/sets/orders/columns`, and one more for what a mistyped address has too much. */
const DEPTHS = [0, 1, 2, 3]

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A link from the root is right for every place that a proxy may put the service at only when it is relative. */
function pageAt(html: string, depth: number): SidePage {
  const text = html.replaceAll('="./', `="${'../'.repeat(depth) || './'}`)
  const body = keepCoded(Buffer.from(text))
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const type = 'text/html; charset=utf-8'
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-cache', ETag: etag }
  return { status: 200, headers: { ...PAGE_HEADERS, ...headers }, body }
}

/** null for a path that is none of the page's. An unknown set is 404 with the page, which says so. */
export function findPage(page: Page, path: string, snapshot: Snapshot | null): SidePage | null {
  if (path.startsWith(FILES)) return page.files.get(path.slice(FILES.length)) ?? null
  const html = page.atDepth[path.split('/').length - 2]
  if (html === undefined) return null
  if (ROUTES.test(path)) return html
  const [, set, rest] = OF_A_SET.exec(path) ?? []
  if (set === undefined) return null
  if (isSet(set, snapshot) && VIEWS.includes(rest ?? '')) return html
  // Without an ETag: a browser that has the page from before must not take it for the answer here.
  const { ETag: _, ...headers } = html.headers
  return { ...html, status: 404, headers }
}

const ROUTES = /^\/(?:lineage|connect|boards\/[^/]+|runs(?:\/[^/]+)?)?$/
/** `/sets/orders`, `/sets/orders(7)`, `/sets/orders/columns`. */
const OF_A_SET = /^\/sets\/([^/(]+)(?:\([^/]*\))?(\/.*)?$/
const VIEWS = ['', '/', '/columns', '/chart']

function isSet(encoded: string, snapshot: Snapshot | null): boolean {
  const name = decoded(encoded)
  return snapshot?.relations.some(({ model }) => entitySetName(model) === name) ?? false
}

/** null where the escapes are not UTF-8. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
