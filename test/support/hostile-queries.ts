// Requests that are made to take long, or to overflow what reads them.

const times = (count: number, text: string) => text.repeat(count)
const list = (count: number, text: string, separator: string) =>
  Array.from({ length: count }, () => text).join(separator)
const within = (depth: number, open: string, inner: string, close: string) =>
  times(depth, open) + inner + times(depth, close)

/** Requests by what they do, for a set of things with id, name, price and day; the status is that of the answer. */
export const hostileQueries: readonly (readonly [name: string, status: number, query: string])[] = [
  ['1,000 clauses', 200, `$filter=${list(1000, "name eq 'abc'", ' or ')}`],
  [
    '1,000 different clauses',
    200,
    `$filter=${Array.from({ length: 1000 }, (_, i) => `price gt ${i}`).join(' and ')}`,
  ],
  [
    '6,000 items',
    200,
    `$filter=id in (${Array.from({ length: 6000 }, (_, i) => i + 1000).join(',')})`,
  ],
  ['3,000 texts', 200, `$filter=name in (${list(3000, "'abcdef'", ',')})`],
  ['5,000 names in a list', 200, `$filter=id in [${list(5000, 'id', ',')}]`],
  ['10,000 names in a list', 200, `$filter=id in [${list(10_000, 'id', ',')}]`],
  ['1,000 cases', 400, `$filter=${list(1000, 'case(id eq 1:1,true:0) eq 1', ' or ')}`],
  ['250 cases', 200, `$filter=${list(250, 'case(id eq 1:1,true:0) eq 1', ' or ')}`],
  ['250 years', 200, `$filter=${list(250, 'year(day) eq 2024', ' or ')}`],
  ['251 functions', 400, `$filter=${list(251, "contains(name,'a')", ' or ')}`],
  ['1,000 not', 200, `$filter=${list(1000, 'not(id eq 1)', ' or ')}`],
  ['1,000 texts like functions', 200, `$filter=name in (${list(1000, "'it''s f(x)'", ',')})`],
  ['5,000 additions', 400, `$filter=price${times(5000, ' add 1')} eq 1`],
  ['32,000 digits', 200, `$filter=price lt ${times(32_000, '9')}`],
  ['400 digits', 200, `$filter=price lt ${times(400, '9')}.5 and id gt -${times(400, '9')}`],
  ['an exponent of 400 digits', 200, `$filter=price lt 1e${times(400, '9')}`],
  ['200 parentheses', 400, `$filter=${within(200, '(', 'id eq 1', ')')}`],
  ['3,000 parentheses', 400, `$filter=${within(3000, '(', 'id eq 1', ')')}`],
  ['200 calls', 400, `$filter=${within(200, 'tolower(', 'name', ')')} eq 'a'`],
  ['99 parentheses', 200, `$filter=${within(99, '(', 'id eq 1', ')')}`],
  ['99 calls', 400, `$filter=${within(99, 'tolower(', 'name', ')')} eq 'a'`],
  ['15,000 minus signs between spaces', 400, `$filter=${times(15_000, '- ')}1 eq 1`],
  ['90 open calls', 400, `$filter=${times(90, 'tolower(')}name`],
  ['90 open groups', 400, `$apply=${times(45, 'groupby((id),')}`],
  ['30,000 minus signs', 400, `$filter=${times(30_000, '-')}1 eq 1`],
  ['2,000 not', 400, `$filter=${times(2000, 'not ')}true`],
  ['a text of 32,000 characters', 200, `$filter=name eq '${times(32_000, 'x')}'`],
  ['a text without an end', 400, `$filter=name eq '${times(32_000, 'x')}`],
  ['a search of 6,000 words', 400, `$search=${list(6000, 'ab', ' ')}`],
  ['a search of 1,000 words', 400, `$search=${list(1000, 'ab', ' ')}`],
  ['a search of 250 words', 200, `$search=${list(250, 'ab', ' OR ')}`],
  ['a search of 1,000 words in $apply', 400, `$apply=search(${list(1000, 'ab', ' ')})`],
  ['an order of 4,000 names', 400, `$orderby=${list(4000, 'id', ',')}`],
  ['8,000 names', 200, `$select=${list(5000, 'id', ',')}`],
  [
    'transformations',
    400,
    `$apply=${list(1000, 'identity', '/')}/${list(200, 'filter(true)', '/')}`,
  ],
  ['concat of concat', 400, `$apply=${list(40, 'concat(identity,identity)', '/')}`],
  ['an expansion in 80 others', 400, `$expand=${within(80, 'a($expand=', 'b', ')')}`],
  ['80 open expansions', 400, `$expand=${times(80, 'a($expand=')}`],
  ['an order of 4,000 names in an expansion', 400, `$expand=a($orderby=${list(4000, 'id', ',')})`],
  ['5,000 expansions', 400, `$expand=${list(5000, 'a', ',')}`],
  ['90 KB of nothing', 400, `$filter=${times(30_000, ' ')}`],
  ['90 KB of a custom option', 200, `x=${times(90_000, 'x')}`],
  ['5,000 options', 200, list(5000, 'x=1', '&')],
  ['a broken regular expression', 400, "$filter=matchesPattern(name,'(a')"],
  ['a slow regular expression', 200, "$filter=matchesPattern(name,'(a+)+$')"],
  ['the year 0', 400, '$filter=day eq 0000-01-01'],
  ['the year 99999', 400, '$filter=day eq 99999-01-01'],
  ['a day that is not', 400, '$filter=day eq 2023-02-29'],
  ['a NUL', 200, "$filter=name eq 'a%00b'"],
]
