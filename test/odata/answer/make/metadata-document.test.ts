import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseModelName } from '../../../../src/core/names.ts'
import { columnType } from '../../../../src/core/relation.ts'
import { compress } from '../../../../src/http/content-coding.ts'
import { csdlJson, csdlXml, metadataDocument } from '../../../../src/odata/answer/make/csdl.ts'
import { buildEntityModel } from '../../../../src/odata/edm/entity-model.ts'
import { fileRows } from '../../../../src/store/files/rows.ts'

const INTEGER = columnType('INTEGER')
const NO_FACTS = { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() }
const conventions = { keyAsSegment: false }

function modelOf(sets: number) {
  const others = Array.from({ length: 20 }, (_, i) => `column_${i}`)
  const relations = Array.from({ length: sets }, (_, i) => ({
    model: parseModelName(`mart.set_${i}`)!,
    file: `${i}.duckdb`,
    bytes: 1,
    rows: 1,
    key: ['id'],
    description: 'a set "of" many',
    columns: ['id', ...others].map((name) => ({ name, type: INTEGER, nullable: name !== 'id' })),
  }))
  const snapshot = { id: 'first', publishedAt: new Date(0), runId: 'run', relations }
  return buildEntityModel(snapshot, NO_FACTS)
}

test('a long document is written once for each form, and others get their turn meanwhile', async () => {
  const model = modelOf(1_000)
  let turns = 0
  const counting = setInterval(() => turns++, 0)
  const xml = await metadataDocument(model, { kind: 'xml', version: '4.0' }, conventions)
  clearInterval(counting)
  assert.ok(turns > 0)
  assert.ok(xml.toString() === [...csdlXml(model, '4.0')].join(''))
  assert.ok(xml === (await metadataDocument(model, { kind: 'xml', version: '4.0' }, conventions)))
  const json = await metadataDocument(model, { kind: 'json', version: '4.01' }, conventions)
  assert.ok(json.toString() === [...csdlJson(model, '4.01')].join(''))
  assert.is(Object.keys(JSON.parse(json.toString()).eider).length, 1_001)
  const other = await metadataDocument(model, { kind: 'xml', version: '4.01' }, conventions)
  assert.match(other.subarray(0, 200).toString(), 'Version="4.01"')
})

test('a document is compressed once in each coding, of whatever size it is', async () => {
  const form = { kind: 'xml', version: '4.0' } as const
  const document = await metadataDocument(modelOf(1), form, conventions)
  const [br, again, gzipped] = await Promise.all([
    compress(document, 'br'),
    compress(document, 'br'),
    compress(document, 'gzip'),
  ])
  assert.ok(br === again)
  assert.ok(br === (await compress(document, 'br')))
  assert.equal(brotliDecompressSync(br), document)
  assert.equal(gunzipSync(gzipped), document)
  const other = Buffer.from(document)
  assert.ok((await compress(other, 'br')) !== (await compress(other, 'br')))
})

test('another snapshot has a document of its own', async () => {
  const form = { kind: 'xml', version: '4.0' } as const
  const few = await metadataDocument(modelOf(1), form, conventions)
  const more = await metadataDocument(modelOf(2), form, conventions)
  assert.ok(few.length < more.length)
})

test.run()
