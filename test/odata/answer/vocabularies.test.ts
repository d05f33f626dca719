// $metadata sends no client to another host: what it refers to is served beside it, and declares all that it uses.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { serve } from '../../support/odata-service.ts'
import { shop } from '../../support/odata-tables.ts'

const TERM = /<Annotation Term="([\w.]+)\.(\w+)"/g

test('every term and property that $metadata uses is declared where it refers to', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop, { token: 'secret' })
  const authorization = 'Bearer secret'
  const metadata = (await served.get('$metadata', { authorization })).text
  const references = [...metadata.matchAll(/Reference Uri="([^"]*)"/g)].map(([, uri]) => uri!)
  assert.is(references.length, 5)
  let declared = ''
  for (const uri of references) {
    assert.is((await served.get(uri)).status, 401)
    const url = new URL(uri, `${served.url}/$metadata`)
    assert.is(url.origin, new URL(served.url).origin)
    const { status, headers, text } = await served.get(uri, { authorization })
    assert.equal([status, headers['content-type']], [200, 'application/xml'])
    assert.is(text.match(/<Term /g)?.length, new Set(text.match(/<Term Name="\w+"/g)).size)
    declared += text
  }
  const terms = new Set([...metadata.matchAll(TERM)].map(([, , term]) => term!))
  const properties = new Set(
    [...metadata.matchAll(/PropertyValue Property="(\w+)"/g)].map(([, name]) => name!),
  )
  assert.ok(terms.size > 8 && properties.size > 6)
  for (const term of terms) assert.match(declared, `<Term Name="${term}"`)
  for (const name of properties) assert.match(declared, `<Property Name="${name}"`)
  for (const [, , type] of metadata.matchAll(/(?:Type|EnumMember)="UI(\.)(\w+)/g))
    assert.match(declared, new RegExp(`<(?:ComplexType|EnumType) Name="${type}"`))
})

test('CSDL JSON refers to JSON, which declares the same', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const { $Reference: references } = (await served.get('$metadata?$format=json')).json
  for (const [uri, { $Include }] of Object.entries(references) as [
    string,
    { $Include: [{ $Namespace: string }] },
  ][]) {
    const namespace = $Include[0].$Namespace
    const { json, headers } = await served.get(uri)
    assert.is(headers['content-type'], 'application/json')
    const xml = (await served.get(uri.replace(/json$/, 'xml'))).text
    const members = Object.keys(json[namespace]).filter((name) => !name.startsWith('@'))
    const named = [...xml.matchAll(/<(?:Term|ComplexType|EnumType|TypeDefinition) Name="(\w+)"/g)]
    assert.equal(
      members,
      named.map(([, name]) => name),
    )
  }
})

test('other names are 404, and options have no meaning', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const statuses = {
    vocabularies: 404,
    'vocabularies/Org.OData.Core.V1': 404,
    'vocabularies/Org.OData.Validation.V1.xml': 404,
    'vocabularies/__proto__.json': 404,
    'vocabularies/Org.OData.Core.V1.xml/more': 404,
    'vocabularies/Org.OData.Core.V1.xml?$top=1': 400,
  }
  for (const [target, status] of Object.entries(statuses)) {
    const answer = await served.get(target)
    assert.equal([answer.status, answer.json.error.target === undefined], [status, status === 404])
  }
})

test.run()
