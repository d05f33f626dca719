// The requests of Excel and Power BI (Power Query's OData.Feed), header for header, and what Power Query needs of the
// answers: without it it shows wrong numbers, or nothing.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { request } from 'node:http'
import { serveShop } from '../support/shop-service.ts'

const HEADERS = {
  Accept:
    'application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7',
  'OData-MaxVersion': '4.0',
  MaxDataServiceVersion: '3.0',
  'Accept-Encoding': 'gzip, deflate',
  'Accept-Language': 'en-US',
  'User-Agent': 'Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)',
}

interface Received {
  readonly status: number | undefined
  readonly rawHeaders: readonly string[]
  readonly type: string | undefined
  readonly text: string
}

/** By node:http, which neither adds headers nor joins those that came twice. */
async function ask(url: string): Promise<Received> {
  const response = await fetch(url, { headers: HEADERS })
  const text = await response.text()
  const rawHeaders = await new Promise<readonly string[]>((resolve, reject) => {
    const sent = request(url, { headers: HEADERS }, (message) => {
      message.resume().on('end', () => resolve(message.rawHeaders))
    })
    sent.on('error', reject).end()
  })
  const type = response.headers.get('content-type') ?? undefined
  return { status: response.status, rawHeaders, type, text }
}

function requirePowerQueryHeaders({ rawHeaders, type }: Received): void {
  const versions = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'odata-version')
  assert.equal(versions, ['4.0'])
  assert.match(type ?? '', /^application\/json;odata\.metadata=minimal(;|$)/)
}

test('Power Query finds its way from the service root to the tables', async () => {
  await using service = await serveShop()
  const root = await ask(`${service.base}/`)
  assert.is(root.status, 200)
  requirePowerQueryHeaders(root)
  const document = JSON.parse(root.text)
  assert.is(document['@odata.context'], `${service.base}/$metadata`)
  assert.ok(document.value.some(({ url }: { url: string }) => url === 'shop_orders'))

  const metadata = await ask(`${service.base}/$metadata`)
  assert.match(metadata.type ?? '', /^application\/xml/)
  assert.match(metadata.text, /<edmx:Edmx [^>]*Version="4\.0"/)
  assert.match(
    metadata.text,
    /Property Name="amount" Type="Edm\.Decimal" Precision="18" Scale="4"/,
    'without Scale Power Query rounds to whole numbers',
  )
  assert.match(metadata.text, /Name="ordered_at" Type="Edm\.DateTimeOffset" Precision="6"/)
  assert.match(metadata.text, /<ReferentialConstraint Property="customer_id"/)
  assert.match(metadata.text, /<NavigationPropertyBinding Path="orders" Target="shop_orders"\/>/)
})

type Row = Readonly<Record<string, unknown>>

async function rowsOf({ base }: { readonly base: string }, path: string): Promise<readonly Row[]> {
  const answer = await ask(`${base}/${path}`)
  assert.is(answer.status, 200, `${path}: ${answer.text}`)
  requirePowerQueryHeaders(answer)
  return JSON.parse(answer.text).value as readonly Row[]
}

test('Power Query reads, filters and expands with the URLs that it writes', async () => {
  await using service = await serveShop()
  const rows = (path: string) => rowsOf(service, path)
  const preview = await rows('shop_customers?$top=200')
  assert.is(preview.length, 4)
  for (const row of preview) assert.equal(Object.keys(row), ['customer_id', 'name', 'city', 'vip'])
  const folded = await rows(
    'shop_customers?$filter=name%20eq%20%27O%27%27Neil%27%20or%20%28name%20eq%20%27Alice%27%20and%20vip%20eq%20true%29&$select=customer_id%2Cname&$top=1000',
  )
  assert.equal(folded, [
    { customer_id: 1, name: 'Alice' },
    { customer_id: 2, name: "O'Neil" },
  ])
  const since = await rows(
    'shop_orders?$filter=ordered_at%20ge%202026-01-02T00%3A00%3A00Z%20and%20ordered_at%20lt%202026-01-03T00%3A00%3A00Z&$orderby=order_id%20desc&$skip=0&$top=10',
  )
  assert.equal(
    since.map(({ order_id, amount }) => [order_id, amount]),
    [[11, 20]],
  )
  // Expanding a column is a request for each row.
  for (const { customer_id: id } of preview) {
    const orders = await rows(`shop_customers(${String(id)})/orders`)
    assert.ok(orders.every((order) => order['customer_id'] === id))
  }
  assert.is((await rows('shop_customers?$expand=orders&$top=1'))[0]?.['name'], 'Alice')
  const count = await fetch(`${service.base}/shop_orders/$count`, { headers: HEADERS })
  assert.is(await count.text(), '5')
})

const SALES = `-- @expose sale
-- @dimension country
-- @time day
-- @measure revenue: sum(amount) where paid
-- @measure costs: sum(cost)
-- @measure margin: (revenue - costs) / revenue
-- @measure buyers: count(DISTINCT buyer)
-- @rollup month, country
SELECT i AS sale, DATE '2025-01-01' + (i % 150)::INTEGER AS day, ['NO', 'O''H', NULL][1 + i % 3] AS country, i % 7 AS buyer,
  i % 4 > 0 AS paid, (i % 97 / 4)::DECIMAL(18,2) AS amount, (i % 11 / 8)::DECIMAL(18,2) AS cost FROM range(2000) r(i)
`

test('Excel reads a rollup as a table, and the same numbers by the names of measures', async () => {
  await using service = await serveShop({ 'models/mart/sales.sql': SALES })
  const set = 'mart_sales_by_month_country'
  const root = JSON.parse((await ask(`${service.base}/`)).text) as { value: readonly Row[] }
  assert.ok(root.value.some(({ url, kind }) => url === set && kind === 'EntitySet'))
  const { text: metadata } = await ask(`${service.base}/$metadata`)
  const [type = ''] =
    /<EntityType Name="mart_sales_by_month_country">.*?<\/EntityType>/s.exec(metadata) ?? []
  assert.match(type, /<PropertyRef Name="id"\/>/)
  assert.match(type, /Name="id" Type="Edm\.String" Nullable="false"/)
  assert.match(type, /Name="revenue" Type="Edm\.Decimal" Precision="38" Scale="2"/)

  const preview = await rowsOf(service, `${set}?$top=200`)
  assert.is(preview.length, 5 * 3)
  for (const row of preview)
    assert.equal(Object.keys(row).slice(0, 6), [
      'id',
      'month',
      'country',
      'revenue',
      'costs',
      'margin',
    ])

  // OData.Feed(url, null, [Query = [#"$apply" = "…"]]) writes the option like any other parameter, with its name encoded.
  const fed = (apply: string) => rowsOf(service, `mart_sales?%24apply=${encodeURIComponent(apply)}`)
  const measures = 'aggregate(revenue,costs,margin,buyers)'
  const months = await fed(`compute(month(day) as m)/groupby((m,country),${measures})`)
  const lineOf = ({ month, m, country, revenue, costs, margin, buyers }: Row) =>
    [m ?? Number(String(month).slice(5, 7)), country, revenue, costs, margin, buyers].join()
  assert.equal(preview.map(lineOf).toSorted(), months.map(lineOf).toSorted())

  const folded = await rowsOf(
    service,
    `${set}?$filter=month%20ge%202025-03-01%20and%20month%20lt%202025-05-01%20and%20country%20eq%20%27O%27%27H%27&$orderby=month%20desc&$select=month%2Crevenue&$top=1000`,
  )
  const asked = months.filter(({ m, country }) => [3, 4].includes(m as number) && country === "O'H")
  assert.equal(
    folded.map(({ month, revenue }) => [month, revenue]),
    asked.toReversed().map(({ m, revenue }) => [`2025-0${String(m)}-01`, revenue]),
  )
  // What a pivot table adds up of the rows is the measure; a ratio is computed of such sums.
  const [total] = await fed(measures)
  const sum = (name: string) =>
    preview.reduce((all, row) => all + Math.round(Number(row[name]) * 100), 0) / 100
  assert.equal([sum('revenue'), sum('costs')], [total!['revenue'], total!['costs']])
  assert.is((sum('revenue') - sum('costs')) / sum('revenue'), total!['margin'])
  const count = await fetch(`${service.base}/${set}/$count`, { headers: HEADERS })
  assert.is(await count.text(), '15')
})

test.run()
