import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../../src/core/sql.ts'
import { csdlJson, csdlXml } from '../../../../src/odata/answer/make/csdl.ts'
import { servedTransformations } from '../../../../src/odata/syntax/transformations.ts'
import { InMemoryTables } from '../../../support/in-memory-tables.ts'
import { shop } from '../../../support/odata-tables.ts'

const xml = (...of: Parameters<typeof csdlXml>) => [...csdlXml(...of)].join('')
const json = (...of: Parameters<typeof csdlJson>) => [...csdlJson(...of)].join('')

const stringsXml = (names: readonly string[]) =>
  `<Collection>${names.map((name) => `<String>${name}</String>`).join('')}</Collection>`

const label = (text: string) =>
  `<Annotation Term="com.sap.vocabularies.Common.v1.Label" String="${text}"/>`

/** A property with what it is called after its name. */
const property = (attributes: string, text: string) =>
  `<Property ${attributes}>${label(text)}</Property>`

test('Q032, Q111: CSDL XML names types, keys, navigation and annotations', async () => {
  await using fixture = await InMemoryTables.open(shop.slice(0, 2))
  const restrictions = [
    'InsertRestrictions',
    'Insertable',
    'UpdateRestrictions',
    'Updatable',
    'DeleteRestrictions',
    'Deletable',
  ]
  const capability = (i: number) =>
    `<Annotation Term="Org.OData.Capabilities.V1.${restrictions[i]}"><Record><PropertyValue Property="${restrictions[i + 1]}" Bool="false"/></Record></Annotation>`
  const levels =
    '<Annotation Term="Org.OData.Capabilities.V1.ExpandRestrictions"><Record><PropertyValue Property="MaxLevels" Int="8"/></Record></Annotation>'
  const apply = `<Annotation Term="Org.OData.Aggregation.V1.ApplySupported"><Record><PropertyValue Property="Transformations">${stringsXml(servedTransformations)}</PropertyValue><PropertyValue Property="PropertyRestrictions" Bool="false"/></Record></Annotation>`
  const tracking =
    '<Annotation Term="Org.OData.Capabilities.V1.ChangeTracking"><Record><PropertyValue Property="Supported" Bool="true"/></Record></Annotation>'
  const readOnly = [capability(0), capability(2), capability(4), levels, apply, tracking]
  const lines = xml(fixture.model, '4.0').split('\n')
  const [drawn, others] = [true, false].map((is) =>
    lines.filter((line) => line.startsWith('<Annotation Term="UI.') === is),
  )
  // Six for each of the two; interface.test.ts says what is in them.
  assert.is(drawn!.length, 12)
  assert.equal(others, [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">',
    '<edmx:Reference Uri="vocabularies/Org.OData.Core.V1.xml"><edmx:Include Namespace="Org.OData.Core.V1"/></edmx:Reference>',
    '<edmx:Reference Uri="vocabularies/Org.OData.Capabilities.V1.xml"><edmx:Include Namespace="Org.OData.Capabilities.V1"/></edmx:Reference>',
    '<edmx:Reference Uri="vocabularies/Org.OData.Aggregation.V1.xml"><edmx:Include Namespace="Org.OData.Aggregation.V1"/></edmx:Reference>',
    '<edmx:Reference Uri="vocabularies/com.sap.vocabularies.Common.v1.xml"><edmx:Include Namespace="com.sap.vocabularies.Common.v1"/></edmx:Reference>',
    '<edmx:Reference Uri="vocabularies/com.sap.vocabularies.UI.v1.xml"><edmx:Include Namespace="com.sap.vocabularies.UI.v1" Alias="UI"/></edmx:Reference>',
    '<edmx:DataServices>',
    '<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="eider">',
    '<EntityType Name="shop_customers">',
    '<Key><PropertyRef Name="customer_id"/></Key>',
    property('Name="customer_id" Type="Edm.Int32" Nullable="false"', 'Customer ID'),
    property('Name="name" Type="Edm.String"', 'Name'),
    property('Name="city" Type="Edm.String"', 'City'),
    property('Name="credit" Type="Edm.Decimal" Precision="18" Scale="4"', 'Credit'),
    property('Name="vip" Type="Edm.Boolean"', 'Vip'),
    property('Name="since" Type="Edm.Date"', 'Since'),
    '<NavigationProperty Name="orders" Type="Collection(eider.shop_orders)" Partner="customer"/>',
    '<Annotation Term="Org.OData.Core.V1.Description" String="People &amp; firms that &lt;buy&gt; &quot;things&quot;"/>',
    '</EntityType>',
    '<EntityType Name="shop_orders">',
    '<Key><PropertyRef Name="order_id"/></Key>',
    property('Name="order_id" Type="Edm.Int32" Nullable="false"', 'Order ID'),
    property('Name="customer_id" Type="Edm.Int32"', 'Customer ID'),
    property('Name="status" Type="Edm.String"', 'Status'),
    property('Name="amount" Type="Edm.Decimal" Precision="18" Scale="4"', 'Amount'),
    property('Name="flags" Type="Edm.Int32"', 'Flags'),
    property('Name="ordered_at" Type="Edm.DateTimeOffset" Precision="6"', 'Ordered at'),
    '<NavigationProperty Name="customer" Type="eider.shop_customers" Partner="orders"><ReferentialConstraint Property="customer_id" ReferencedProperty="customer_id"/></NavigationProperty>',
    '</EntityType>',
    '<EntityContainer Name="Default">',
    '<EntitySet Name="shop_customers" EntityType="eider.shop_customers">',
    '<NavigationPropertyBinding Path="orders" Target="shop_orders"/>',
    ...readOnly,
    '</EntitySet>',
    '<EntitySet Name="shop_orders" EntityType="eider.shop_orders">',
    '<NavigationPropertyBinding Path="customer" Target="shop_customers"/>',
    ...readOnly,
    '</EntitySet>',
    '<Annotation Term="Org.OData.Core.V1.ODataVersions" String="4.0 4.01"/>',
    '<Annotation Term="Org.OData.Capabilities.V1.BatchContinueOnErrorSupported" Bool="true"/>',
    '<Annotation Term="Org.OData.Capabilities.V1.CrossJoinSupported" Bool="true"/>',
    '<Annotation Term="Org.OData.Capabilities.V1.KeyAsSegmentSupported" Bool="false"/>',
    `<Annotation Term="Org.OData.Capabilities.V1.SupportedFormats">${stringsXml(['application/json', 'text/csv', 'application/vnd.apache.parquet', 'application/vnd.apache.arrow.stream', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'])}</Annotation>`,
    `<Annotation Term="Org.OData.Capabilities.V1.BatchSupport"><Record><PropertyValue Property="ContinueOnErrorSupported" Bool="true"/><PropertyValue Property="SupportedFormats">${stringsXml(['multipart/mixed', 'application/json'])}</PropertyValue></Record></Annotation>`,
    '</EntityContainer>',
    '</Schema>',
    '</edmx:DataServices>',
    '</edmx:Edmx>',
    '',
  ])
  assert.match(xml(fixture.model, '4.01'), 'Version="4.01"')
})

test('CSDL JSON says the same', async () => {
  await using fixture = await InMemoryTables.open(shop.slice(0, 2))
  const document = JSON.parse(json(fixture.model, '4.01'))
  assert.is(document.$Version, '4.01')
  assert.is(document.$EntityContainer, 'eider.Default')
  assert.equal(document.eider.shop_customers.$Key, ['customer_id'])
  assert.equal(document.eider.shop_customers.customer_id, {
    $Type: 'Edm.Int32',
    '@com.sap.vocabularies.Common.v1.Label': 'Customer ID',
  })
  assert.equal(document.eider.shop_customers.credit, {
    $Type: 'Edm.Decimal',
    $Nullable: true,
    $Precision: 18,
    $Scale: 4,
    '@com.sap.vocabularies.Common.v1.Label': 'Credit',
  })
  assert.equal(document.eider.shop_orders.customer, {
    $Kind: 'NavigationProperty',
    $Type: 'eider.shop_customers',
    $Nullable: true,
    $Partner: 'orders',
    $ReferentialConstraint: { customer_id: 'customer_id' },
  })
  assert.equal(document.eider.Default.shop_customers.$NavigationPropertyBinding, {
    orders: 'shop_orders',
  })
  assert.equal(
    document.eider.Default.shop_customers['@Org.OData.Capabilities.V1.InsertRestrictions'],
    { Insertable: false },
  )
  assert.equal(
    document.eider.Default.shop_customers['@Org.OData.Capabilities.V1.ExpandRestrictions'],
    { MaxLevels: 8 },
  )
  assert.is(document.eider.Default['@Org.OData.Capabilities.V1.CrossJoinSupported'], true)
  const { Transformations } =
    document.eider.Default.shop_orders['@Org.OData.Aggregation.V1.ApplySupported']
  assert.equal(Transformations, servedTransformations)
  assert.equal(document.eider.Default['@Org.OData.Capabilities.V1.BatchSupport'], {
    ContinueOnErrorSupported: true,
    SupportedFormats: ['multipart/mixed', 'application/json'],
  })
  assert.equal(Object.keys(document.$Reference), [
    'vocabularies/Org.OData.Core.V1.json',
    'vocabularies/Org.OData.Capabilities.V1.json',
    'vocabularies/Org.OData.Aggregation.V1.json',
    'vocabularies/com.sap.vocabularies.Common.v1.json',
    'vocabularies/com.sap.vocabularies.UI.v1.json',
  ])
  assert.match(
    xml(fixture.model, '4.01', { keyAsSegment: true }),
    'KeyAsSegmentSupported" Bool="true"',
  )
})

test('a hierarchy is an annotation of the type, with a qualifier', async () => {
  await using fixture = await InMemoryTables.open([
    {
      model: 'hr.people',
      key: ['id'],
      hierarchies: [{ name: 'org', node: 'id', parent: 'boss' }],
      rows: sql`SELECT 1 AS id, NULL::INTEGER AS boss`,
    },
  ])
  assert.match(
    xml(fixture.model, '4.01'),
    '<Annotation Term="Org.OData.Aggregation.V1.RecursiveHierarchy" Qualifier="org"><Record><PropertyValue Property="NodeProperty" PropertyPath="id"/><PropertyValue Property="ParentNavigationProperty" NavigationPropertyPath="org_parent"/></Record></Annotation>',
  )
  const { hr_people: type, Default } = JSON.parse(json(fixture.model, '4.01')).eider
  assert.equal(type['@Org.OData.Aggregation.V1.RecursiveHierarchy#org'], {
    NodeProperty: 'id',
    ParentNavigationProperty: 'org_parent',
  })
  assert.equal(type.org_parent, {
    $Kind: 'NavigationProperty',
    $Type: 'eider.hr_people',
    $Nullable: true,
    $Partner: 'org_children',
    $ReferentialConstraint: { boss: 'id' },
  })
  assert.equal(Default.hr_people.$NavigationPropertyBinding, {
    org_parent: 'hr_people',
    org_children: 'hr_people',
  })
})

test('Q117: a set without a key has a type without one', async () => {
  await using fixture = await InMemoryTables.open(shop.slice(3))
  assert.not.match(xml(fixture.model, '4.0'), '<Key>')
  assert.is(JSON.parse(json(fixture.model, '4.0')).eider.shop_log.$Key, undefined)
})

test('no text of a project can break the document', async () => {
  const description = 'a"b<c>&amp;\t\n\r\u0001\u001f\ud800\ufffe]]>'
  await using fixture = await InMemoryTables.open([
    { model: 't.a', key: ['id'], description, rows: sql`SELECT 1 AS id` },
  ])
  const [, text] = /Description" String="([^"]*)"/.exec(xml(fixture.model, '4.0'))!
  assert.is(text, 'a&quot;b&lt;c&gt;&amp;amp;&#9;&#10;&#13;\ufffd\ufffd\ufffd\ufffd]]&gt;')
})

test.run()
