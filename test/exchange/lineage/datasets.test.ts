import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fileName } from '../../../src/exchange/lineage/datasets.ts'
import { lineageUrl } from '../../../src/exchange/lineage/open-lineage.ts'

test('files are named as the conventions say, without what may be a secret', () => {
  const named = (path: string) => Object.values(fileName(path, '/p'))
  assert.equal(named('data/*.csv'), ['file', '/p/data/*.csv'])
  assert.equal(named('/abs/x.csv'), ['file', '/abs/x.csv'])
  assert.equal(named('s3://bucket/a/b.parquet'), ['s3://bucket', 'a/b.parquet'])
  assert.equal(named('https://me:k3y@h.example:8443/a/b.csv?sig=k3y#x'), [
    'https://h.example:8443',
    'a/b.csv',
  ])
})

test('the base of a collector is enough, and its own address stays', () => {
  assert.is(lineageUrl('http://c:5000'), 'http://c:5000/api/v1/lineage')
  assert.is(lineageUrl('http://c/base/?a=1'), 'http://c/base/api/v1/lineage?a=1')
  assert.is(lineageUrl('http://c/x/lineage?a=1'), 'http://c/x/lineage?a=1')
})

test.run()
