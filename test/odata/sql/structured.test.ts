import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

const people: readonly Table[] = [
  {
    model: 's.people',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES
      (1, {city: 'Rome', zip: 100::UTINYINT, geo: {lat: 1.5::DOUBLE}, phones: ['1', '2']}, ['b', 'a', 'c'],
        [{n: 1::BIGINT, d: DATE '2024-01-31'}, {n: 2, d: NULL}], [1.50, 22.25]::DECIMAL(9,2)[], [[1], [2]], {"a b": 1}),
      (2, NULL, NULL, [], NULL, NULL, NULL),
      (3, {city: 'it''s "x"', zip: NULL, geo: NULL, phones: NULL}, [NULL, 'é'], [NULL], [], [], NULL)
    ) AS v(id, address, tags, lines, prices, nested, odd)`,
  },
  {
    model: 's.visits',
    key: ['visit'],
    rows: sql`SELECT * FROM (VALUES (10, 1, 5), (11, 1, 7), (12, 3, 1), (13, NULL, 2)) AS v(visit, person, hours)`,
  },
]

test('Q133: lists are arrays, structs objects, at every depth', async () => {
  await using resources = new Resources()
  const served = await serve(resources, people)
  const { value } = (await served.get('s_people')).json
  assert.equal(value, [
    {
      id: 1,
      address: { city: 'Rome', zip: 100, geo: { lat: 1.5 }, phones: ['1', '2'] },
      tags: ['b', 'a', 'c'],
      lines: [
        { n: 1, d: '2024-01-31' },
        { n: 2, d: null },
      ],
      prices: [1.5, 22.25],
      nested: '[[1], [2]]',
      odd: "{'a b': 1}",
    },
    { id: 2, address: null, tags: [], lines: [], prices: [], nested: null, odd: null },
    {
      id: 3,
      address: { city: 'it\'s "x"', zip: null, geo: null, phones: [] },
      tags: [null, 'é'],
      lines: [null],
      prices: [],
      nested: '[]',
      odd: null,
    },
  ])
  const quoted = await served.get('s_people(1)?$select=prices,lines/n', {
    accept: 'application/json;IEEE754Compatible=true',
  })
  assert.match(quoted.text, '"prices":["1.50","22.25"],"lines":[{"n":"1"},{"n":"2"}]')
})

test('$metadata declares complex types and collections', async () => {
  await using resources = new Resources()
  const served = await serve(resources, people)
  const xml = (await served.get('$metadata')).text
  const labelled = (property: string, label: string) =>
    `${property}><Annotation Term="com.sap.vocabularies.Common.v1.Label" String="${label}"/></Property>`
  for (const line of [
    labelled('<Property Name="address" Type="eider.s_people_address"', 'Address'),
    labelled('<Property Name="tags" Type="Collection(Edm.String)" Nullable="true"', 'Tags'),
    labelled(
      '<Property Name="lines" Type="Collection(eider.s_people_lines)" Nullable="true"',
      'Lines',
    ),
    labelled(
      '<Property Name="prices" Type="Collection(Edm.Decimal)" Nullable="true" Precision="9" Scale="2"',
      'Prices',
    ),
    labelled('<Property Name="nested" Type="Edm.String"', 'Nested'),
    labelled('<Property Name="odd" Type="Edm.String"', 'Odd'),
    '<ComplexType Name="s_people_address">',
    '<Property Name="geo" Type="eider.s_people_address_geo"/>',
    '<ComplexType Name="s_people_address_geo">',
    '<Property Name="lat" Type="Edm.Double"/>',
    '<Property Name="phones" Type="Collection(Edm.String)" Nullable="true"/>',
  ])
    assert.match(xml, line)
  const { eider } = (await served.get('$metadata?$format=json')).json
  assert.equal(eider.s_people.tags, {
    $Type: 'Edm.String',
    $Collection: true,
    $Nullable: true,
    '@com.sap.vocabularies.Common.v1.Label': 'Tags',
  })
  assert.equal(eider.s_people_lines, {
    $Kind: 'ComplexType',
    n: { $Type: 'Edm.Int64', $Nullable: true },
    d: { $Type: 'Edm.Date', $Nullable: true },
  })
})

test('paths to parts, items and their number', async () => {
  await using resources = new Resources()
  const served = await serve(resources, people)
  const body = async (target: string) => {
    const { '@odata.context': context, ...rest } = (await served.get(target)).json
    assert.match(context, `${served.url}/$metadata#s_people(`)
    return rest
  }
  assert.equal(await body('s_people(1)/address/geo'), { lat: 1.5 })
  assert.equal(await body('s_people(1)/address?$select=city'), { city: 'Rome' })
  assert.equal(await body('s_people(1)/address/city'), { value: 'Rome' })
  assert.equal(await body('s_people(1)/lines/-1'), { n: 2, d: null })
  assert.equal(await body('s_people(1)/lines/0/d'), { value: '2024-01-31' })
  assert.equal(await body('s_people(2)/tags'), { value: [] })
  assert.equal(
    await body("s_people(1)/tags?$filter=$it%20ne%20'b'&$orderby=$this%20desc&$count=true&$top=1"),
    { '@odata.count': 2, value: ['c'] },
  )
  assert.equal(await body('s_people(1)/lines?$filter=n%20gt%201&$select=n'), { value: [{ n: 2 }] })
  assert.equal(await body('s_people(1)/tags?$skip=1'), { value: ['a', 'c'] })
  const texts = {
    's_people(1)/address/city/$value': 'Rome',
    's_people(1)/tags/$count': '3',
    "s_people(1)/tags/$count?$filter=$it%20lt%20'c'": '2',
    's_people(1)/address/phones/1/$value': '2',
  }
  for (const [target, text] of Object.entries(texts))
    assert.is((await served.get(target)).text, text, target)
  const statuses = {
    's_people(2)/address': 204,
    's_people(2)/address/city': 204,
    's_people(3)/lines/0': 204,
    's_people(1)/tags/3': 404,
    's_people(1)/tags/-4': 404,
    's_people(9)/tags': 404,
    's_people(1)/address/$value': 404,
    's_people(1)/tags/$value': 404,
    's_people(1)/tags/x': 404,
    's_people(1)/address/nope': 404,
    's_people(1)/tags?$select=x': 400,
    's_people(1)/tags?$search=a': 400,
    's_people(1)/lines?$filter=x%20eq%201': 400,
    's_people(1)/address?$top=1': 400,
  }
  for (const [target, status] of Object.entries(statuses))
    assert.is((await served.get(target)).status, status, target)
})

test('Q039: $select takes parts of structs', async () => {
  await using resources = new Resources()
  const served = await serve(resources, people)
  const { json } = await served.get('s_people?$select=id,address/city,lines/n,address/zip')
  assert.is(
    json['@odata.context'],
    `${served.url}/$metadata#s_people(id,address/city,address/zip,lines/n)`,
  )
  assert.equal(json.value[0], {
    id: 1,
    address: { city: 'Rome', zip: 100 },
    lines: [{ n: 1 }, { n: 2 }],
  })
  assert.equal(json.value[1], { id: 2, address: null, lines: [] })
  const nested = await served.get(
    "s_people(1)?$select=address($select=city,geo/lat),tags($filter=$this%20ne%20'a';$orderby=$this%20desc;$top=1;$count=true)",
  )
  assert.equal(nested.json, {
    '@odata.context': `${served.url}/$metadata#s_people(address/city,address/geo/lat,tags)/$entity`,
    address: { city: 'Rome', geo: { lat: 1.5 } },
    '@odata.id': 's_people(1)',
    'tags@odata.count': 2,
    tags: ['c'],
  })
  for (const path of [
    'id($top=1)',
    'address($top=1)',
    'tags($select=x)',
    'tags($top=1),tags($top=2)',
  ])
    assert.is((await served.get(`s_people?$select=${path}`)).status, 400, path)
  for (const path of ['address/nope', 'id/x', 'tags/x', 'address//city'])
    assert.is((await served.get(`s_people?$select=${path}`)).status, 400, path)
})

test.run()
