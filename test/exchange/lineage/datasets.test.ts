import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fileName } from '../../../src/exchange/lineage/datasets.ts'
import { toldSql } from '../../../src/exchange/lineage/told-text.ts'
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
  for (const [path, namespace, name] of [
    ['https://me:k3/y@h.example/b.csv', 'https://h.example', 'b.csv'],
    ['https://me:k3y@h.example/a@b.csv', 'https://h.example', 'a@b.csv'],
    ['https://h.example:8443/a@b.csv', 'https://h.example:8443', 'a@b.csv'],
    ['https://h.example?sig=k3y/@x', 'https://h.example', '/'],
    ['s3://bucket/part-?.parquet', 's3://bucket', 'part-?.parquet'],
    ['s3://bucket/a#1.csv', 's3://bucket', 'a#1.csv'],
    ['s3://bucket/a.csv?s3_secret_access_key=k3y', 's3://bucket', 'a.csv'],
  ] as const)
    assert.equal(named(path), [namespace, name])
})

test('the base of a collector is enough, and its own address stays', () => {
  assert.is(lineageUrl('http://c:5000'), 'http://c:5000/api/v1/lineage')
  assert.is(lineageUrl('http://c/base/?a=1'), 'http://c/base/api/v1/lineage?a=1')
  assert.is(lineageUrl('http://c/x/lineage?a=1'), 'http://c/x/lineage?a=1')
})

test('SQL is told without the users and queries of its URLs', () => {
  for (const [text, told] of [
    [
      "FROM 'https://h/a.csv?sig=k3y' t WHERE t.a = '?'",
      "FROM 'https://h/a.csv?***' t WHERE t.a = '?'",
    ],
    ["FROM read_csv('https://me:k3y@h/a?b')", "FROM read_csv('https://***@h/a?***')"],
    ["FROM 'https://me:k''3/y@h/a.csv'", "FROM 'https://***@h/a.csv'"],
    ["SELECT 'https://h/a?sig=k3 y'", "SELECT 'https://h/a?***'"],
    ["SELECT e'https://h/a?\\'k3y', 1", "SELECT e'https://h/a?***', 1"],
    [
      'SELECT $$https://h/a?k3y$$, $t$https://h/?k3y$t$',
      'SELECT $$https://h/a?***$$, $t$https://h/?***$t$',
    ],
    ['FROM "https://h/a.csv?sig=k3y"', 'FROM "https://h/a.csv?***"'],
    ["-- don't: https://h/a?k3y now\nSELECT 1", "-- don't: https://h/a?*** now\nSELECT 1"],
    ["/* 'https://me:k3y@h' */ SELECT 1", "/* 'https://***@h' */ SELECT 1"],
    ["FROM 's3://b/part-?.csv', 's3://b/a.csv'", "FROM 's3://b/part-?.csv', 's3://b/a.csv'"],
    ["SELECT a ? 'b', 'x@y.example'", "SELECT a ? 'b', 'x@y.example'"],
  ] as const)
    assert.is(toldSql(text), told)
})

test.run()
