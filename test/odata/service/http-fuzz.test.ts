// Requests that are understood are broken in many ways and sent to the service: paths, options, headers, bodies of
// $query and of batches. Whatever comes, it is answered as OData has it, without words of the engine, and the next good
// request is answered as before. EIDER_FUZZ_SECONDS=600 works on for that long; EIDER_FUZZ_SEED begins elsewhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { seededRandom } from '../../buffer/seeded-random.ts'
import { type Answer, type Asked, serve } from './publish.ts'
import { shop } from './shop.ts'

const SEED = Number(process.env['EIDER_FUZZ_SEED'] ?? 20_261_121)
const SECONDS = Number(process.env['EIDER_FUZZ_SECONDS'] ?? 8)
/** However slow the machine is. */
const LEAST = 200
const MOST = process.env['EIDER_FUZZ_SECONDS'] === undefined ? 3_000 : Number.POSITIVE_INFINITY

const multipart = [
  '--b',
  'Content-Type: application/http',
  'Content-ID: 1',
  '',
  'GET shop_customers(1)?$select=name HTTP/1.1',
  'Accept: application/json',
  '',
  '',
  '--b',
  'Content-Type: application/http',
  '',
  "GET /odata/shop_orders?$filter=status%20eq%20'paid'&$top=1 HTTP/1.1",
  '',
  '',
  '--b--',
  'epilogue',
].join('\r\n')

const json = JSON.stringify({
  requests: [
    { id: '1', method: 'GET', url: 'shop_customers(1)', headers: { accept: 'application/json' } },
    {
      id: '2',
      method: 'get',
      url: '/odata/shop_orders/$count?$filter=amount gt 5',
      dependsOn: ['1'],
    },
    { id: '3', atomicityGroup: 'g', method: 'GET', url: "shop_products('d''e')?$select=product" },
  ],
})

const post = (target: string, type: string, body: string): Asked => ({
  target,
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
})

/** Requests that are understood, at least one for each option, path and form of a body. */
const good: readonly Asked[] = [
  ...[
    '',
    '$metadata',
    '$metadata?$format=json',
    'shop_customers',
    'shop_customers(1)',
    'shop_customers(customer_id=1)/orders',
    'shop_customers(1)/orders(10)/items?$select=product',
    'shop_customers(1)/name/$value',
    'shop_customers/$count?$filter=points ge 0',
    'shop_orders(10)/customer/city',
    'shop_items(order_id=10,line=1)',
    "shop_products('b%2Fc')/picture/$value",
    'shop_customers(1)/$ref',
    '$entity?$id=shop_customers(1)',
    "shop_customers?$filter=contains(name,'li') and (points gt 10.5 or not (city eq null)) and customer_id in (1,2,null)",
    "shop_customers?$filter=orders/any(o:o/amount gt 10 and o/items/any(i:i/qty gt 1)) or orders/$count($filter=status eq 'paid') ge 2",
    "shop_orders?$filter=case(amount gt 5:1,true:cast('2',Edm.Int32)) eq @p and customer/name ne @q&@p=1&@q='x'",
    "shop_products?$filter=added lt 2024-01-05T10:30:00.5Z and year(added) eq 2024 and added sub 2024-01-01T00:00:00Z gt duration'P1DT2H'",
    "shop_customers?$filter=matchesPattern(name,'^[A-Z](l|o)+.*$') and indexof(tolower(name),substring(trim(city),1,2)) ge -1",
    'shop_orders?$compute=amount mul 2 add -1.5 as twice,round(amount divby 3) as third&$select=order_id,twice&$orderby=third desc,twice',
    'shop_customers?$search=paris AND NOT (berlin OR "a b")&$count=true&$skip=1&$top=2',
    'shop_customers?$expand=orders($filter=amount gt 1;$select=status;$orderby=amount desc;$top=2;$skip=0;$count=true;$expand=items($levels=1))',
    'shop_orders?$expand=customer/$ref,items/$count($filter=line eq 1)',
    'shop_orders?$apply=filter(amount gt 1)/groupby((customer/city,status),aggregate(amount with sum as total,$count as n))&$filter=n gt 0',
    'shop_orders?$apply=groupby((rollup(status,customer_id)),aggregate(amount with average as a))/orderby(a desc)/topcount(3,a)',
    'shop_orders?$apply=concat(top(2),compute(amount div 2 as half)/aggregate(half with max as m))',
  ].map((target): Asked => ({ target })),
  {
    target: 'shop_orders',
    headers: {
      Prefer: 'maxpagesize=2,include-annotations="*"',
      Accept: 'application/json;odata.metadata=full;IEEE754Compatible=true',
    },
  },
  {
    target: 'shop_orders(10)',
    headers: {
      'OData-MaxVersion': '4.0',
      'If-None-Match': 'W/"x"',
      Accept: '*/*;q=0.5, application/json;q=0.9',
    },
  },
  post(
    'shop_orders/$query',
    'text/plain',
    "$filter=status eq 'paid' and amount in (20,30)&$orderby=order_id",
  ),
  post('$batch', 'application/json', json),
  post('$batch', 'multipart/mixed; boundary=b', multipart),
]

const odd = [
  '%',
  '%zz',
  '%c3',
  '%ed%a0%80',
  '%00',
  '%2',
  '\ud800',
  '\udfff',
  '\u{1f600}',
  '\0',
  '\u202e',
  'é',
  '\r\n',
  '\n',
  '\t',
  "'",
  "''",
  '"',
  '\\',
  '(',
  ')',
  '((((',
  '))',
  '[',
  ']',
  '{',
  '}',
  ',',
  ';',
  ':',
  '/',
  '//',
  '/../',
  '?',
  '&',
  '&&',
  '=',
  '@',
  '@@a',
  '$',
  '$$',
  '*',
  '+',
  '-',
  '--',
  '~',
  '|',
  '#',
  '0000-01-01',
  '99999-12-31',
  '2023-02-30',
  '2024-01-01T25:61:61Z',
  '24:00:00',
  '9'.repeat(400),
  `-${'9'.repeat(400)}.5`,
  '1e400',
  '1e-400',
  '0.'.padEnd(400, '1'),
  '-0',
  'NaN',
  '-INF',
  "matchesPattern(name,'(a')",
  "matchesPattern(name,'[z-a]')",
  "matchesPattern(name,'a{99999}')",
  "matchesPattern(name,'(?=x)')",
  'null',
  'true',
  'not ',
  ' eq ',
  ' in ()',
  ' in (null)',
  ' has ',
  ' div 0',
  ' mod 0',
  'any()',
  '$it',
  '$root/',
  '$count',
  '$levels=max',
  'null add null',
  "duration'P99999999999D'",
  "binary'x'",
  "geography'POINT(1 2)'",
  'not '.repeat(150),
  '('.repeat(150),
  'tolower('.repeat(150),
  '-'.repeat(150),
  `${'[1,'.repeat(120)}`,
  '{"a":'.repeat(120),
] as const

/** What an answer to a bad request must not say. */
const WORDS_OF_THE_ENGINE =
  /duckdb|\b(?:binder|catalog|parser|conversion|invalid input|out of range|internal|io) error|struct_pack|to_json|"main"|strptime|node_modules|dist\/src|\/tmp\/|at Object\./i

test(`broken requests are refused as OData has it (seed ${SEED})`, async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const random = seededRandom(SEED)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const tokens = good.flatMap(
    ({ target = '', body = '' }) => `${target} ${body}`.match(/[\w$]+|'[^']*'|[^\w\s]/gu) ?? [],
  )

  const broken = (text: string): string => {
    const parts: string[] = text.match(/[\w$]+|\s+|[^\w\s]/gu) ?? []
    const at = below(parts.length + 1)
    const kind = below(6)
    if (kind === 0) parts.splice(at, 1 + below(4))
    else if (kind === 1) parts.splice(at, 0, ...parts.slice(at, at + 1 + below(8)))
    else if (kind === 2 && parts.length > 1) {
      const other = below(parts.length)
      const moved = parts[at % parts.length]!
      parts[at % parts.length] = parts[other]!
      parts[other] = moved
    } else if (kind === 3) parts.splice(at, below(3), pick(tokens))
    else if (kind === 4) parts.splice(at, below(2), pick(odd))
    else parts.splice(at, parts.length)
    return parts.join('')
  }

  const change = (asked: Asked): Asked => {
    const kind = below(10)
    const { target = '', headers = {}, body } = asked
    if (kind === 0)
      return {
        ...asked,
        method: pick(['PUT', 'DELETE', 'PATCH', 'POST', 'OPTIONS', 'HEAD', 'GET']),
      }
    if (kind === 1) {
      const name = pick([
        'Accept',
        'Prefer',
        'OData-MaxVersion',
        'OData-Version',
        'If-None-Match',
        'Content-Type',
        'Accept-Charset',
      ])
      return {
        ...asked,
        headers: { ...headers, [name]: asHeader(broken(headers[name] ?? pick(tokens))) },
      }
    }
    return body === undefined || kind === 2
      ? { ...asked, target: broken(target) }
      : { ...asked, body: broken(body) }
  }

  const first = await served.get('shop_customers')
  const counts = { understood: 0, refused: 0 }
  const endAt = performance.now() + SECONDS * 1000
  for (let round = 0; round < MOST && (round < LEAST || performance.now() < endAt); round++) {
    let asked = pick(good)
    for (let changes = below(4); changes >= 0; changes--) asked = change(asked)
    const sent = { ...asked, target: asTarget(asked.target ?? '') }
    const answer = await served.send(sent).catch((cause: unknown) => {
      throw new Error(JSON.stringify(sent), { cause })
    })
    const fault = faultOf(answer, asked.method ?? 'GET')
    assert.is(fault, null, `${JSON.stringify(sent)}: ${answer.status} ${answer.text.slice(0, 500)}`)
    if (answer.status < 400) counts.understood++
    else counts.refused++
    if (round % 50 === 0) assert.is((await served.get('shop_customers')).text, first.text)
  }
  assert.is((await served.get('shop_customers')).text, first.text)
  const failures = served.log.filter(({ event }) => event === 'request-failed')
  assert.is(failures.length, 0, JSON.stringify(failures[0]))
  assert.ok(counts.understood > 5 && counts.refused > 5, JSON.stringify(counts))
})

/** Every request line is ASCII without blanks; percent signs stay as they are, so that broken encoding is met too. */
const asTarget = (text: string) =>
  text.replace(/[^!-~]|#/gu, (character) =>
    /\p{Cs}/u.test(character)
      ? `%ED%${(0xa0 + (character.charCodeAt(0) % 32)).toString(16)}%80`
      : encodeURIComponent(character),
  )

const asHeader = (text: string) => text.replace(/[^\t -~]/gu, '?')

/** What is wrong with an answer; null when nothing is. */
function faultOf({ status, headers, text, aborted }: Answer, method: string): string | null {
  if (aborted) return 'the answer was cut off'
  if (status >= 500 && ![501, 503, 504].includes(status)) return 'a failure of the server'
  if (status < 400 || method === 'HEAD') return faultOfParts(text, headers['content-type'] ?? '')
  return faultOfError(text)
}

function faultOfError(text: string): string | null {
  if (WORDS_OF_THE_ENGINE.test(text)) return 'words of the engine'
  const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<string, unknown>> }
  const { code, message, target = '' } = error ?? {}
  const isText = (value: unknown) => typeof value === 'string'
  return isText(code) && code !== '' && isText(message) && message !== '' && isText(target)
    ? null
    : 'no error of OData'
}

/** Each part of the answer to a batch. */
function faultOfParts(text: string, type: string): string | null {
  const statuses = [
    ...text.matchAll(type.startsWith('multipart') ? /^HTTP\/1\.1 (\d+)/gm : /"status":(\d+)/g),
  ].map(([, status]) => Number(status))
  const failed = statuses.filter((status) => status >= 500 && ![501, 503, 504].includes(status))
  if (failed.length > 0) return 'a failure of the server within a batch'
  const errors = text.match(/\{"error":\{[^}]*\}\}/g) ?? []
  return errors.map(faultOfError).find((fault) => fault !== null) ?? null
}

test.run()
