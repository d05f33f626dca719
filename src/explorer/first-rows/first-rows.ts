// The rows that a page of rows begins with, asked for while its HTML is made: the answer to the very request that the
// script would send, for the same reader.

import { limits } from '../../core/limits.ts'
import type { AskedPage, Read, SidePage } from '../../http/side-pages.ts'
import { Html, html } from './html.ts'
import { readRoute } from '../page/address/route.ts'
import { readSchema, type Schema } from '../page/model/schema.ts'
import { FIRST_PAGE, firstPageRequest, readRowsState } from '../page/rows/requests.ts'
import { ACCEPT, answerRows } from '../page/service/client.ts'
import { FIRST_ROWS_PLACE, type FillPage, type HtmlPage } from '../serve-page.ts'
import { rowsHtml } from './rows-html.ts'

interface FirstRowsOptions {
  readonly project: string
  /** How long the page waits for them; as the limit says unless given. */
  readonly firstRowsMs?: number
}

interface FirstRows {
  /** The answer for the script, which finds it by the request. */
  readonly data: Html
  /** The same for people. */
  readonly view: Html
  readonly count: number
}

/**
 * Puts them into the page: null where it does not show rows, and where the answer is refused, late or long, because then
 * the script asks.
 */
export function firstRows(options: FirstRowsOptions): FillPage {
  const { project, firstRowsMs = limits.firstRowsMs } = options
  const schemaOf = createSchemas()

  async function read(asked: AskedPage, gone: AbortSignal): Promise<FirstRows | null> {
    const route = readRoute(asked.path, asked.query)
    if (route.view !== 'rows') return null
    const state = readRowsState(route.set, route.query)
    const request = firstPageRequest(state)
    const headers = { accept: ACCEPT, prefer: `odata.maxpagesize=${FIRST_PAGE}` }
    const answer = await asked.read(request, { headers, gone })
    if (answer === null || answer.body.length > limits.firstRowsBytes) return null
    const schema = await schemaOf(asked, gone)
    const snapshot = snapshotOf(answer)
    // A run may have published between the two.
    if (schema === null || schema.snapshot !== snapshot || snapshot === undefined) return null
    const set = schema.of.set(route.set)
    if (set === undefined) return null
    const text = answer.body.toString('utf8')
    const { value: rows, count } = answerRows(request, JSON.parse(text), snapshot)
    const home = '../'.repeat(asked.path.split('/').length - 2)
    const shown = { project, schema: schema.of, set, state, rows, count, home, service: asked.root }
    return { data: dataHtml(request, snapshot, text), view: rowsHtml(shown), count: rows.length }
  }

  return async (asked, page) => {
    const gone = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => {
        gone.abort()
        resolve(null)
      }, firstRowsMs)
    })
    try {
      const rows = await Promise.race([read(asked, gone.signal), late])
      return rows === null ? null : filled(page, rows)
    } finally {
      clearTimeout(timer)
    }
  }
}

function filled({ text, headers }: HtmlPage, { data, view, count }: FirstRows): SidePage {
  const [beforeData, beforeView, rest] = text.split(FIRST_ROWS_PLACE)
  if (rest === undefined) throw new Error('index.html has no place for rows')
  // Going back to rows shows the current ones, and nobody keeps what only this reader may see. Hence no ETag.
  const { ETag: _, ...others } = headers
  return {
    status: 200,
    headers: { ...others, 'Cache-Control': 'no-store' },
    body: Buffer.from(beforeData + data.text + beforeView + view.text + rest),
    rows: count,
  }
}

const snapshotOf = ({ headers }: Read) => headers['Eider-Snapshot']

/** Browsers do not run JSON, so the policy does not apply to it, and nothing in it can end the element. */
function dataHtml(request: string, snapshot: string, json: string): Html {
  const data = new Html(json.replaceAll('<', '\\u003c'))
  return html`<script
    type="application/json"
    id="first-rows-data"
    data-request="${request}"
    data-snapshot="${snapshot}"
  >
    ${data}
  </script>`
}

interface SchemaOfSnapshot {
  readonly snapshot: string | undefined
  readonly of: Schema
}

/** What was read last is kept: to read it for hundreds of wide sets takes longer than their rows. */
function createSchemas(): (
  asked: AskedPage,
  gone: AbortSignal,
) => Promise<SchemaOfSnapshot | null> {
  let last: (SchemaOfSnapshot & { readonly part: string }) | null = null
  return async ({ snapshot, part, read }, gone) => {
    if (last !== null && last.part === part && last.snapshot === snapshot?.id) return last
    const answer = await read('$metadata?$format=json', { headers: { accept: ACCEPT }, gone })
    if (answer === null) return null
    const of = readSchema(JSON.parse(answer.body.toString('utf8')))
    last = { snapshot: snapshotOf(answer), part, of }
    return last
  }
}
