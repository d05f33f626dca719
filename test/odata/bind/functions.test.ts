import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { one } from '../../support/odata-tables.ts'
import { requestTests } from '../../support/request-tests.ts'

const onOne = requestTests(one)

onOne('Q062 to Q071: functions of text', (t) => {
  t.holds('t_one', [
    "contains(v,'aß')",
    "CONTAINS(v,'')",
    "startswith(v,'Stra')",
    "endswith(v,'😀')",
    "not contains(v,'%')",
    "not startswith(v,'stra')",
    "tolower(v) eq 'straße 😀'",
    "toupper('äé') eq 'ÄÉ'",
    'length(v) eq 8',
    "length('') eq 0",
    "trim('\u00a0\t a b \n\u2003') eq 'a b'",
    "trim('\u0085\u000ba\u000b\u0085') eq 'a'",
    "concat(v,concat('a','b')) eq 'Straße 😀ab'",
    'concat(v,nothing) eq null',
    "indexof(v,'😀') eq 7",
    "indexof(v,'x') eq -1",
    "substring(v,1) eq 'traße 😀'",
    "substring(v,0,2) eq 'St'",
    "substring(v,7,5) eq '😀'",
    "substring(v,99) eq ''",
    "substring(v,-2) eq ' 😀'",
    "substring(v,-99,2) eq 'St'",
    'substring(nothing,2,1) eq null',
  ])
  t.fails('t_one', ["contains(v,'A')", "contains(nothing,'a')", "not contains(nothing,'a')"])
  t.refusesAll('t_one', 'wrong-arguments', [
    'contains(v)',
    'length()',
    'substring(v)',
    "concat('a','b','c')",
  ])
  t.refusesAll('t_one', 'type-mismatch', [
    "contains(i,'a')",
    'length(1)',
    "substring(v,'a')",
    'trim(yes)',
  ])
  t.refusesAll('t_one', 'unknown-function', ["substringof('a',v)", 'sqrt(i) eq 1', 'pg_sleep(1)'])
})

onOne('Q072 to Q080, Q096 to Q100: functions of dates and times', (t) => {
  t.holds('t_one', [
    'year(ts) eq 2024 and month(ts) eq 2 and day(ts) eq 29',
    'year(dt) eq 2024 and month(dt) eq 2 and day(dt) eq 29',
    'hour(ts) eq 23 and minute(ts) eq 59 and second(ts) eq 58',
    'hour(tod) eq 10 and minute(tod) eq 20 and second(tod) eq 30',
    'hour(2024-01-05T10:30:00-05:00) eq 15',
    'fractionalseconds(ts) eq 0.123456',
    'fractionalseconds(tod) eq 0.5',
    'date(ts) eq dt',
    'date(ts) eq 2024-02-29',
    'time(ts) eq 23:59:58.123456',
    'totaloffsetminutes(ts) eq 0',
    "totalseconds(duration'PT1M') eq 60",
    'totalseconds(du) eq 93600',
    "totalseconds(duration'-PT0.5S') eq -0.5",
    'now() eq 2024-06-01T12:00:00.5Z',
    'now() eq now()',
    'ts lt maxdatetime() and ts gt mindatetime()',
    'year(no_time) eq null',
    'year(null) eq null',
    'totaloffsetminutes(no_time) eq null',
  ])
  t.refusesAll('t_one', 'type-mismatch', [
    "year('2024')",
    'hour(dt)',
    'date(dt)',
    'totalseconds(1)',
    'year(v)',
  ])
  t.refusesAll('t_one', 'wrong-arguments', ['year()', 'now(1)', 'year(dt,dt)'])
})

onOne('Q081 to Q083: rounding goes away from zero', (t) => {
  t.holds('t_one', [
    'round(n) eq 3',
    'round(d) eq -3',
    'round(edge) eq 10',
    'floor(d) eq -3 and ceiling(d) eq -2',
    'floor(n) eq 2 and ceiling(n) eq 3',
    'round(f) eq 1',
    'round(i) eq 7 and floor(i) eq 7 and ceiling(i) eq 7',
    'round(no_number) eq null',
  ])
  t.refusesAll('t_one', 'type-mismatch', ['round(v)', 'floor(yes)'])
})

onOne('Q084 to Q088: arithmetic', (t) => {
  t.holds('t_one', [
    'i add 1 eq 8',
    'i sub 1 sub 2 eq 4',
    '1 add i mul 2 eq 15',
    '(1 add i) mul 2 eq 16',
    'i div 2 eq 3',
    '-i div 2 eq -3',
    'i divby 2 eq 3.5',
    'i div 2.0 eq 3.5',
    '0.0 sub -9223372036854775808 eq 9223372036854775808',
    'no_number div zero eq null',
    'no_number divby zero eq null',
    'i mod j eq 1',
    '(-big sub 1) mod -1 eq 0',
    '(-big sub 1) mod (j add 1) eq 0',
    '-i mod j eq -1',
    '- (i) eq -7 and -j eq 2 and - -5 eq 5',
    'tiny add tiny eq 254',
    'n mul n eq 6.25',
    'n add i eq 9.5',
    'n mul 2 gt 4.9999',
    'wide add 1 eq 12345678901234567891.12345678',
    'edge mul edge eq 99.8001',
    'd mul 2 eq -5',
    'n mod 2 eq 0.5',
    'n div 2 eq 1.25',
    'd div 0 eq -INF',
    'no_number add 1 eq null',
    'i add null eq null',
    'null add null eq null',
    "ts add duration'PT1M' gt 2024-03-01T00:00:00Z",
    "dt add duration'P1D' eq 2024-03-01",
    "2024-03-01 sub dt eq duration'P1D'",
    "ts sub 2024-02-29T23:59:58.123456Z eq duration'PT0S'",
    "du add duration'PT1H' eq 'P1DT3H'",
    "-du lt duration'PT0S'",
    "du mul 2 eq 'P2DT4H'",
    "0.5 mul du eq duration'PT13H'",
    "du div 4 eq 'PT6H30M'",
    "du divby 1e6 eq 'PT0.0936S'",
    'du mul no_number eq null',
    "dt add 'P1D' eq 2024-03-01",
    "'PT1H' mul 2 eq 'PT2H'",
  ])
  t.refusesAll('t_one', 'arithmetic-error', [
    'i div 0 eq 1',
    'i mod 0 eq 1',
    'n div 0.0 eq 1',
    'i divby 0 eq 1',
  ])
  t.refusesAll('t_one', 'type-mismatch', [
    'v add 1 eq 1',
    'yes mul 2 eq 2',
    "-v eq 'a'",
    'dt add 1 eq dt',
  ])
  t.raises('t_one', [
    'i div zero eq 1',
    'i mod zero eq 1',
    'n div zero eq 1',
    'big add big gt 0',
    "substring(v,2,-1) eq ''",
    "substring(v,0,j) eq ''",
  ])
})

// As sum() gives them: DECIMAL(38,s) for decimals, HUGEINT for integers.
onOne('arithmetic on sums is exact', (t) => {
  t.holds('t_one', [
    'total mul 3 eq 0.3',
    'total mul 3 eq total add total add total',
    'total mul 0.1 eq 0.01',
    'total mod 0.03 eq 0.01',
    'total add 0.2 eq 0.3',
    'total sub 12345678901234567890123456789012345.67 eq -12345678901234567890123456789012345.57',
    'counted add 1 eq 9007199254740994',
    'counted mod 10 eq 3',
    'counted mul counted eq 81129638414606699710187514626049',
    '-counted eq -9007199254740993',
    'edge mul edge mul edge mul edge eq 9960.05996001',
    'n mul 3000000000000000000000 eq 7500000000000000000000',
    'fine mul fine eq 1',
    'total mul fine eq 0.1',
  ])
  const target = 't_one?$compute=total mul 3 as a,counted add 0.5 as b&$select=a,b'
  t.raises('t_one', ['counted mul counted mul counted gt 0'])
  t.test(async (fixture) => {
    const { output } = fixture.query(encodeURI(target))
    assert.equal(
      output.map(({ type }) => type.engine),
      ['DECIMAL(38,2)', 'DECIMAL(38,1)'],
    )
  })
})

onOne('each result has the engine type that its Edm type says', (t) => {
  for (const expression of [
    'round(n)',
    'floor(edge)',
    'round(f)',
    'length(v)',
    'indexof(v,v)',
    'year(dt)',
    'second(tod)',
    'fractionalseconds(ts)',
    'date(ts)',
    'time(ts)',
    'totalseconds(du)',
    'i add 1',
    'n mul n',
    'i div 2',
    'n div 2',
    'i mod 2',
    'n mod 2',
    '-tiny',
    'dt sub dt',
    'ts add du',
    'dt add du',
    'case(yes:1,true:2.5)',
    'cast(n,Edm.Int32)',
    'cast(n,Edm.Single)',
    'now()',
    'i eq 1',
    'edge sub n',
  ])
    t.test(expression, async (tables) => {
      const target = `t_one?$compute=${encodeURIComponent(expression)} as x&$select=x`
      const [output] = tables.query(target).output
      const [row] = await tables.run(sql`SELECT typeof(x) AS type FROM (${tables.sql(target)})`)
      assert.is(row!['type'], output!.type.engine)
    })
})

test.run()
