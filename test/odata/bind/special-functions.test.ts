import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { one } from '../../support/odata-tables.ts'
import { requestTests } from '../../support/request-tests.ts'

const onOne = requestTests(one)

onOne(
  'Q089, Q090, Q095: cast converts, isof tests a type, case takes the first that holds',
  (t) => {
    t.holds('t_one', [
      'cast(n,Edm.Int32) eq 3',
      "cast(n,'Edm.Int32') eq 3 and isof(i,'Edm.Int32')",
      "cast(i,Edm.String) eq '7'",
      "cast(ts,Edm.String) eq '2024-02-29T23:59:58.123456Z'",
      "cast(yes,Edm.String) eq 'true'",
      "cast('12',Edm.Int64) eq 12",
      "cast('x',Edm.Int64) eq null",
      'cast(big,Edm.Int16) eq null',
      "cast('2024-02-29',Edm.Date) eq dt",
      "cast('2024-02-29T10:00:00+02:00',Edm.DateTimeOffset) eq 2024-02-29T08:00:00Z",
      'cast(null,Edm.Int32) eq null',
      'cast(ts,Edm.Date) eq dt',
      "cast(du,Edm.String) eq 'PT93600S'",
      "cast('P1DT2H',Edm.Duration) eq du",
      "cast('-PT0.5S',Edm.Duration) eq duration'-PT0.5S'",
      "cast('PT1M1.0000019S',Edm.Duration) eq duration'PT61.000001S'",
      'cast(cast(du,Edm.String),Edm.Duration) eq du',
      "cast('P',Edm.Duration) eq null",
      "cast('P1DT',Edm.Duration) eq null",
      "cast('P1Y',Edm.Duration) eq null",
      "cast('P999999999DT999999999H',Edm.Duration) eq null",
      "cast('Af8',Edm.Binary) eq binary'Af8'",
      "cast('Af8=',Edm.Binary) eq binary'Af8='",
      "cast('-_-_',Edm.Binary) eq binary'-_-_'",
      "cast('',Edm.Binary) eq binary''",
      "cast('A',Edm.Binary) eq null",
      "cast('A+==',Edm.Binary) eq null",
      'cast(cast(v,Edm.Binary),Edm.String) eq null',
      "cast(binary'-_8',Edm.String) eq '-_8'",
      'cast(200,Edm.Byte) eq 200',
      'cast(tiny,Edm.Byte) add 100 eq 227',
      'cast(i mul 36,Edm.Byte) gt cast(tiny,Edm.SByte)',
      'cast(256,Edm.Byte) eq null',
      'cast(j,Edm.Byte) eq null',
      "cast('255',Edm.Byte) eq 255",
      "cast([1,2],Collection(Edm.String)) eq ['1','2']",
      "cast(['1','x'],Collection(Edm.Int32)) eq [1,null]",
      'isof([1],Collection(Edm.Int32))',
      'not isof([1],Collection(Edm.String))',
      'isof(i,Edm.Int32)',
      'not isof(i,Edm.Int64)',
      'not isof(nothing,Edm.String)',
      'isof(eider.t_one)',
      "case(i gt 5:'a',true:'b') eq 'a'",
      'case(i gt 50:1,i gt 6:2.5,true:0) eq 2.5',
      'case(i gt 50:1) eq null',
      'case(no_number gt 1:1,true:2) eq 2',
      'case(yes:null,true:1) eq null',
      'case(dt ge 2024-02-29:1,true:0) eq 1',
      'case(tod eq 10:20:30.5:1,true:0) eq 1',
      'case(tod lt 10:30:1,true:0) eq 1',
    ])
    t.refusesAll('t_one', 'type-mismatch', [
      'cast(yes,Edm.Date) eq dt',
      'cast(i,Edm.Nothing) eq 1',
      'cast(i,Edm.Duration) eq null',
      'cast(i,Edm.Binary) eq null',
      'cast(i,Collection(Edm.Int32)) eq [1]',
      'cast(i,Collection(Collection(Edm.Int32))) eq [1]',
      'case(i:1) eq 1',
    ])
    t.refusesAll('t_one', 'type-mismatch', ["case(yes:1,true:'a') eq 1", 'isof(i,foo)'])
    t.refusesAll('t_one', 'wrong-arguments', [
      'cast() eq 1',
      'cast(i,1) eq 1',
      'isof(i,i,Edm.Int32)',
      'cast(i,Collection()) eq 1',
    ])
    t.refusesAll('t_one', 'not-supported', [
      'cast(v,Edm.Stream) eq null',
      'isof(i,Edm.GeographyPoint)',
    ])
  },
)

onOne('Q091: patterns are ECMAScript as far as RE2 goes', (t) => {
  t.holds('t_one', [
    "matchesPattern(v,'^Stra')",
    "matchespattern(v,'[a-z]{2}ß')",
    "matchesPattern(v,'\\u{1F600}$')",
    "matchesPattern(v,'\\u0053traße')",
    "matchesPattern(v,'(?<word>S\\w+)')",
    "matchesPattern(v,'[^]😀')",
    "matchesPattern('a_b','a\\_b')",
    "matchesPattern(v,'')",
    "not matchesPattern(v,'[]')",
  ])
  t.fails('t_one', [
    "matchesPattern(v,'^x')",
    "matchesPattern(nothing,'a')",
    'matchesPattern(v,null)',
  ])
  t.refusesAll('t_one', 'invalid-value', [
    "matchesPattern(v,'(')",
    "matchesPattern(v,'[a')",
    "matchesPattern(v,'*')",
  ])
  const lacking = [
    '(?=a)',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '\\cA',
    'a{1001}',
    '(a{99}){99}',
    '[\\b]',
    '[[:a]',
  ]
  t.refusesAll(
    't_one',
    'not-supported',
    lacking.map((pattern) => `matchesPattern(v,'${pattern}')`),
  )
  t.refusesAll('t_one', 'not-supported', ['matchesPattern(v,v)'])
  t.test(async (fixture) => {
    const startedAt = performance.now()
    await fixture.ids('t_one', `matchesPattern('${'a'.repeat(5_000)}','^(a+)+$x')`)
    // An engine that goes back would not end in a lifetime.
    assert.ok(performance.now() - startedAt < 10_000)
  })
})

onOne('Q092 to Q094: geo functions say that they are not served', (t) => {
  t.refusesAll('t_one', 'not-supported', [
    "geo.distance(v,geography'POINT(1 2)') lt 5",
    'geo.length(v) gt 1',
    "geo.intersects(v,geography'POINT(1 2)')",
  ])
})

test.run()
