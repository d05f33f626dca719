// Lookups in all forms, whole and broken, by shortcuts and by the engine alone: the same answers.
//
// EIDER_REQUESTS=1000000 asks for so many, and EIDER_REQUESTS_SEED=2 begins elsewhere. Each different one is asked several
// times, since what is known of earlier ones is what an answer may wrongly be made of.

import { Agent } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { pick } from '../../support/front-requests.ts'
import type { Asked, Served } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import { ask, AT_ONCE as FILES_AT_ONCE, both, metric, shown } from '../../support/row-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { until } from '../../support/until.ts'
import { keyedTables, lookupForms, writtenKeys } from '../../support/written-lookups.ts'

const REQUESTS = Number(process.env['EIDER_REQUESTS'] ?? 2_000)
const SEED = Number(process.env['EIDER_REQUESTS_SEED'] ?? 1)
/** How often each different request is asked. */
const TIMES = 10
const AT_ONCE = 16
/** Enough for a part of them, so that answers come from memory, are forgotten and made again. */
const CACHE_BYTES = 40_000

type Random = () => number

const ENDS: Readonly<Record<string, readonly string[]>> = {
  shop_orders: [
    '/customers',
    '/customers/name',
    '/customers/limited/$value',
    '/customers/countries',
    '/countries',
    '/customers/$ref',
    '?$expand=customers',
    '?$expand=customers($select=name),countries&$select=id,note',
    '?$expand=customers($expand=orders)',
  ],
}
const COMMON_ENDS: readonly string[] = [
  '/note',
  '/note/$value',
  '/price',
  '/price/$value',
  '/moment/$value',
  '/object',
  '/list',
  '/$ref',
  '?$select=note,price',
  '?$select=nothing',
  '?$format=json',
  '?$format=csv',
  '?$format=arrow',
  '?$top=1',
  '?limit=1',
]
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { Accept: 'application/json;odata.metadata=full' },
  { Accept: 'application/json;odata.metadata=minimal;IEEE754Compatible=true' },
  { Accept: 'application/json;odata.metadata=none' },
  { Accept: '*/*', 'Accept-Encoding': 'gzip, deflate, br', 'User-Agent': 'a browser' },
  { Accept: 'application/xml' },
  { Prefer: 'omit-values=nulls' },
  { Prefer: 'return=minimal' },
  { 'If-None-Match': '*' },
  { 'If-None-Match': 'W/"other"' },
  { 'Accept-Encoding': 'gzip' },
  { 'Accept-Encoding': 'identity;q=0' },
  { 'OData-MaxVersion': '4.0' },
  { 'OData-Version': '9' },
  { Range: 'bytes=0-9' },
  { Accept: '' },
]
const PIECES = [
  ..."'()/?=,&$%.-0;:+ ".split(''),
  '%27',
  '%00',
  '%2F',
  '%C3',
  '$filter=',
  ' eq ',
  'null',
]

/** A lookup as a client may write it. */
function lookup(random: Random): string {
  const set = pick(random, Object.keys(writtenKeys))
  const form = pick(random, lookupForms(set, pick(random, writtenKeys[set]!)))
  const isFilter = form.includes('?')
  const ends = [...COMMON_ENDS, ...(ENDS[set] ?? [])]
  const end = random() < 0.4 ? '' : pick(random, ends)
  const url = form + (isFilter && end.startsWith('?') ? `&${end.slice(1)}` : isFilter ? '' : end)
  return random() < 0.75 ? url : broken(url, random)
}

function broken(url: string, random: Random): string {
  const at = Math.floor(random() * url.length)
  const rest = url.slice(random() < 0.5 ? at + 1 : at)
  const piece = random() < 0.3 ? '' : pick(random, PIECES)
  return (url.slice(0, at) + piece + rest).replaceAll(' ', '%20')
}

function drawnRequest(random: Random): Asked {
  const headers = {
    ...(random() < 0.5 ? {} : pick(random, HEADERS)),
    ...bearer(pick(random, ['whole', 'whole', 'part'])),
  }
  if (random() < 0.95) {
    const method = random() < 0.95 ? 'GET' : pick(random, ['HEAD', 'POST', 'OPTIONS'])
    return { method, target: lookup(random), headers }
  }
  const requests = Array.from({ length: 4 }, (_, id) => ({
    id: String(id),
    method: 'GET',
    url: lookup(random),
    headers: random() < 0.5 ? {} : pick(random, HEADERS),
  }))
  return {
    method: 'POST',
    target: '$batch',
    headers: { 'Content-Type': 'application/json', Prefer: 'continue-on-error', ...headers },
    body: JSON.stringify({ requests }),
  }
}

const ROWS = { 'shop.orders': 'flag', 'shop.countries': 'size > 0' }

/** Files of the rows of all sets, and of those that a token sees. One is made at a time, and what is in memory asks for none. */
async function untilAllMade(served: Served): Promise<void> {
  const sets = Object.entries(writtenKeys)
  let round = 0
  const isMade = async () => {
    round++
    for (const [set, [key]] of sets)
      await ask(served, { target: `${set}(${key})?again=${round}`, headers: bearer('whole') })
    const target = `shop_orders(8)?again=${round}`
    await ask(served, { target, headers: bearer('part') })
    return (await metric(served, 'row_files', bearer('whole'))) > sets.length
  }
  await until(isMade, Boolean, 180_000)
}

test(`${REQUESTS} lookups of seed ${SEED} are answered as by the engine`, async () => {
  await using resources = new Resources()
  const tokens = [readerToken('whole', {}), readerToken('part', { rows: ROWS })]
  const { ours, engine } = await both(resources, keyedTables, {
    conventions: { keyAsSegment: true },
    tokens,
    cacheBytes: CACHE_BYTES,
    rowFiles: { ...FILES_AT_ONCE, files: 64 },
  })
  await untilAllMade(ours)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  resources.defer(async () => agent.destroy())
  const random = seededRandom(SEED)
  const different = Array.from({ length: REQUESTS / TIMES }, () => drawnRequest(random))
  const expected = new Map<Asked, string>()
  const counts = { found: 0, refused: 0 }
  const one = async (asked: Asked) => {
    const mine = await ask(ours, { ...asked, agent })
    let theirs = expected.get(asked)
    if (theirs === undefined) {
      theirs = JSON.stringify(shown(await ask(engine, { ...asked, agent })))
      expected.set(asked, theirs)
    }
    if (mine.status < 300) counts.found++
    else counts.refused++
    const { agent: _, ...told } = asked
    assert.is(JSON.stringify(shown(mine)), theirs, JSON.stringify(told))
  }
  for (let n = 0; n < REQUESTS; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => one(pick(random, different))))
  const byFile = await metric(ours, 'row_file_lookups_total', bearer('whole'))
  assert.ok(byFile > REQUESTS / 10, `${byFile} rows from files`)
  assert.ok(Math.min(counts.found, counts.refused) > REQUESTS / 20, JSON.stringify(counts))
  if (process.env['EIDER_REQUESTS'] !== undefined)
    process.stdout.write(`${different.length} different ones: ${JSON.stringify(counts)}\n`)
})

test.run()
