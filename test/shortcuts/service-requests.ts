// The part of the scenario that asks the service.

import { Agent } from 'node:http'
import { type Answer, ask, type Asked } from '../support/odata-service.ts'
import { readMetrics } from '../support/read-metrics.ts'
import { until } from '../support/until.ts'
import type { Workspace } from '../support/workspace.ts'
import type { Note } from './answers-child.ts'

/** More than limits.lookupsBeforeRowFile, and one for each so many rows. */
const LOOKUPS = 120
/** A client names itself and its host; ports differ. */
const HEADERS = { Host: '127.0.0.1', 'User-Agent': 'test' }

const get = (target: string, headers: Readonly<Record<string, string>> = {}): Asked => ({
  target,
  headers: { ...HEADERS, ...headers },
})

const LOOKUP_FORMS: readonly ((set: string, key: (n: number) => string) => readonly Asked[])[] = [
  (set, key) => [7, 8, 7].map((n) => get(`odata/${set}(${key(n)})`)),
  (set, key) => [9, 10].map((n) => get(`odata/${set}(${key(n)})?$select=${SELECTED[set]}`)),
  (set, key) =>
    ['minimal', 'full', 'none'].flatMap((metadata) =>
      [11, 12].map((n) =>
        get(`odata/${set}(${key(n)})`, { Accept: `application/json;odata.metadata=${metadata}` }),
      ),
    ),
  (set, key) => [get(`odata/${set}(${key(13)})`, { 'Accept-Encoding': 'gzip' })],
  (set, key) => [get(`odata/${set}(${key(14)})`, { Accept: 'application/xml' })],
  (set, key) => [get(`odata/${set}(${key(15)})?$format=csv`)],
  (set, key) => [get(`odata/${set}(${key(1e6)})`), get(`odata/${set}(${key(-1)})`)],
  (set, key) =>
    [11, 12].map((n) =>
      get(`odata/${set}(${key(n)})`, { Accept: 'application/json;IEEE754Compatible=true' }),
    ),
  (set, key) => [12, 13].map((n) => get(`odata/${set}?$filter=${KEY[set]}%20eq%20${key(n)}`)),
  (set, key) => [12, 13].map((n) => get(`odata/${set}(${KEY[set]}=${key(n)})`)),
  (set, key) => [{ ...get(`odata/${set}(${key(16)})`), method: 'HEAD' }],
  (set, key) => [get(`odata/${set}(${key(17)})`, { 'If-None-Match': '*' })],
  (set, key) => [get(`odata/${set}(${key(18)})/${SELECTED[set]}`)],
  (set, key) => [get(`odata/${set}(${key(19)})/${SELECTED[set]}/$value`)],
  (set, key) => [get(`odata/${set}(%20${key(20)})`)],
  (set) => [get(`odata/${set}('')`), get(`odata/${set}()`), get(`odata/${set}(1,2)`)],
]
const SELECTED: Readonly<Record<string, string>> = { mart_items: 'name', mart_words: 'length' }
const KEY: Readonly<Record<string, string>> = { mart_items: 'id', mart_words: 'word' }
const KEYS: Readonly<Record<string, (n: number) => string>> = {
  mart_items: String,
  mart_words: (n) => `'w${n}'`,
}

const BATCH = JSON.stringify({
  requests: [
    'mart_items(3)',
    'mart_items(3)',
    'mart_words(%27w4%27)',
    'nothing',
    'mart_items?$top=2',
  ].map((url, i) => ({ id: String(i), method: 'GET', url })),
})

const OTHERS: readonly Asked[] = [
  get('odata'),
  get('odata/$metadata'),
  get('odata/$metadata?$format=json'),
  get('odata/mart_items?$top=3&$orderby=price desc,id'.replaceAll(' ', '%20')),
  get('odata/mart_items?$filter=id%20lt%203&$count=true'),
  get('odata/mart_items/$count'),
  get('odata/mart_items?$apply=groupby((price),aggregate($count%20as%20n))&$orderby=price'),
  get('odata/mart_items?$format=csv&$top=20'),
  get('odata/mart_items', { Accept: 'text/csv' }),
  get('odata/mart_page_counts'),
  get('odata/core_rates'),
  get('odata/mart_items', { Prefer: 'odata.maxpagesize=5' }),
  get('odata/mart_items', { 'Accept-Encoding': 'gzip' }),
  get('odata/nothing'),
  get('odata/mart_items?$filter=nothing%20eq%201'),
  get('odata/mart_items?$top=-1'),
  { ...get('odata/mart_items(1)'), method: 'DELETE' },
  {
    ...get('odata/$batch', { 'Content-Type': 'application/json', Accept: 'application/json' }),
    method: 'POST',
    body: BATCH,
  },
  get(''),
  get('sets/mart_items'),
  get('sets/mart_items/columns'),
  get('lineage'),
  get('sets/mart_words(%27w1%27)'),
  get('sets/nothing'),
  get('catalog.json'),
  get('health'),
]

/** The traces of shortcuts that were at work. */
export async function askService(
  space: Workspace,
  note: Note,
  lacks: string | null,
): Promise<readonly string[]> {
  await using service = await space.start(['serve', '--port', '0'], {
    env: { ODATA_SECRET: '2'.repeat(64) },
  })
  const root = new URL(service.url).origin
  const say = async (asked: Asked, when: string) => {
    const answer = await ask(`${root}/${asked.target}`, asked)
    const { method = 'GET', target, headers } = asked
    note(`${method} ${target} ${JSON.stringify(headers)} ${when}`, shown(asked, answer))
    return answer
  }
  const lookUp = async (when: string) => {
    for (const [set, key] of Object.entries(KEYS))
      for (const form of LOOKUP_FORMS) for (const asked of form(set, key)) await say(asked, when)
  }
  const metric = async (name: string) =>
    (await readMetrics(`${root}/metrics`, 'eider_odata_')).get(name)!
  await lookUp('at first')
  for (const [set, key] of Object.entries(KEYS)) {
    for (let n = 100; n < 100 + LOOKUPS; n++) await say(get(`odata/${set}(${key(n)})`), 'often')
    const files = Object.keys(KEYS).indexOf(set) + 1
    if (lacks !== 'odata/engine/rows')
      await until(
        () => metric('row_files'),
        (n) => n === files,
      )
  }
  await lookUp('after many')
  for (const asked of [...OTHERS, ...OTHERS]) {
    const { etag } = (await say(asked, 'once')).headers
    if (etag !== undefined)
      await say({ ...asked, headers: { ...asked.headers, 'If-None-Match': etag } }, 'again')
  }
  await followPages(root, note)
  await askAgain(say)
  const traces: Readonly<Record<string, boolean>> = {
    'odata/engine/rows': (await metric('row_file_lookups_total')) > 0,
    'odata/http/answer-cache': (await metric('cache_hits_total')) > 0,
  }
  return Object.keys(traces).filter((name) => traces[name])
}

/** On one connection, as often as it takes until their heads are known, and once more with another value. */
async function askAgain(say: (asked: Asked, when: string) => Promise<Answer>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const lines = [{}, { 'Accept-Encoding': 'gzip' }, { 'If-None-Match': '*' }]
  for (const headers of lines)
    for (let number = 0; number < 6; number++) {
      const traced = { ...headers, traceparent: `00-${number}` }
      for (const target of ['odata/mart_items?$top=20', 'odata/$metadata'])
        await say({ ...get(target, traced), agent }, 'again and again')
    }
  agent.destroy()
}

function shown({ target }: Asked, { status, rawHeaders, bytes }: Answer): string {
  const headers = rawHeaders.flatMap((name, i) => {
    // The catalog says how long models took.
    const isChance = target === 'catalog.json' && name === 'Content-Length'
    return i % 2 === 1 || isChance ? [] : [`${name}: ${rawHeaders[i + 1]}`]
  })
  const body = bytes.toString(rawHeaders.includes('gzip') ? 'hex' : 'utf8')
  return [status, ...headers, body].join('\n')
}

async function followPages(root: string, note: Note): Promise<void> {
  let target: string | undefined = 'odata/mart_items?$select=id'
  for (let page = 1; target !== undefined; page++) {
    const headers = { Host: '127.0.0.1', Prefer: 'odata.maxpagesize=700' }
    const answer = await ask(`${root}/${target}`, { headers })
    note(`page ${page}`, answer.text)
    const next = (answer.json as { '@odata.nextLink'?: string })['@odata.nextLink']
    target = next === undefined ? undefined : `odata/${next.replace(/^.*\/odata\//, '')}`
  }
}
