import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/http/request-error.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

const SEED = 20_240_601
const ROUNDS = 4_000
const LONGEST_MS = 6_000

/** Requests that are understood; what comes out of the fuzzer is made of their pieces. */
const seeds: readonly string[] = [
  "shop_customers?$filter=contains(name,'a') and credit add 1.5 gt -2 or not (vip eq true)",
  'shop_customers?$filter=orders/any(o:o/amount gt 10 and o/status eq null)&$orderby=credit desc,name',
  "shop_orders?$filter=customer/city in ('Paris',null)&$select=order_id,amount&$top=5&$skip=1&$count=true",
  'shop_orders?$compute=year(ordered_at) as y,amount mul 2 as a2&$filter=y eq 2024&$orderby=a2',
  'shop_orders?$filter=case(amount gt 10:1,true:0) eq 1 and cast(amount,Edm.String) ne null',
  'shop_orders?$apply=filter(amount gt 1)/groupby((customer/city,status),aggregate(amount with sum as t,$count as n))',
  'shop_orders?$apply=groupby((rollup(status,flags)),topcount(2,amount)/aggregate(amount with avg as a))&$filter=a gt 1',
  'shop_orders?$apply=concat(orderby(amount desc)/top(2),compute(amount div 2 as h)/aggregate(h with max as m))',
  'shop_customers?$search=paris AND NOT (berlin OR "a b")&$filter=since lt 2022-01-01',
  "shop_customers?$filter=orders/$count($filter=amount gt @p) gt 1&@p=5&@q='x'",
  'shop_items(order_id=10,line=1)?$select=product',
  'shop_customers?$expand=orders($filter=amount gt 1;$select=status;$orderby=amount desc;$top=2;$count=true;$expand=items)',
  'shop_orders?$expand=customer($expand=orders($levels=2;$search=a)),items/$count($filter=line eq 1)&$filter=amount gt 1',
  "shop_customers(1)/orders?$apply=groupby((status),aggregate($count as n))&$filter=status ne 'a'",
  "shop_orders?$filter=ordered_at gt 2024-01-01T00:00:00Z sub duration'P1D' and flags has 2",
  'shop_customers/$count?$filter=length(trim(name)) gt 2',
]

test(`changed requests are understood or refused, never a crash (seed ${SEED})`, async () => {
  await using fixture = await InMemoryTables.open()
  const random = seededRandom(SEED)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(from: readonly T[]) => from[below(from.length)]!
  const pieces = seeds.flatMap((seed) => seed.match(/\w+|'[^']*'|./gsu) ?? [])
  const oddities = ['(', ')', "'", '/', ',', '\0', '\u{1f600}', '$', '@', '%', '9'.repeat(40), ' ']
  const change = (text: string): string => {
    const at = below(text.length + 1)
    const until = Math.min(text.length, at + below(8))
    const kind = below(4)
    if (kind === 0) return text.slice(0, at) + text.slice(until)
    if (kind === 1) return text.slice(0, at) + pick(pieces) + text.slice(at)
    if (kind === 2) return text.slice(0, at) + pick(oddities) + text.slice(until)
    return text.slice(0, at) + pick(seeds).slice(below(40), 40 + below(60)) + text.slice(until)
  }
  const startedAt = performance.now()
  let understood = 0
  let refused = 0
  for (let round = 0; round < ROUNDS && performance.now() - startedAt < LONGEST_MS; round++) {
    let request = pick(seeds)
    for (let changes = below(4); changes >= 0; changes--) request = change(request)
    // Percent signs stay as they are half of the time, so that broken encoding is met too.
    const target = random() < 0.5 ? request : request.replaceAll('%', '%25')
    try {
      const bound = fixture.bind(target)
      if ('query' in bound) fixture.sql(target).prepare()
      understood++
    } catch (error) {
      if (!(error instanceof RequestError)) throw new Error(target, { cause: error })
      assert.ok([400, 404, 501].includes(error.status), `${error.status}: ${target}`)
      assert.ok(error.code.length > 0 && error.message.length > 0, target)
      refused++
    }
  }
  assert.ok(understood > 0 && refused > 0, `${understood} understood, ${refused} refused`)
})

test.run()
