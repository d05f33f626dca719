// Values as other languages and locales write them: each refusal says how OData writes the same.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

const filters: readonly (readonly [filter: string, message: string])[] = [
  ['since eq 2026-1-5', 'at character 10: a date is written 2026-01-05'],
  ['since eq 2026/1/31', 'at character 14: a date is written 2026-01-31'],
  ['since eq 31.01.2026', 'at character 10: a date is written 2026-01-31'],
  ['since eq 1/31/2026', 'at character 11: a date is written as year, month and day: 2026-01-31'],
  ['since eq 20260131', 'since is a date; write 2026-01-31'],
  ['since gt 30', 'since is a date; write a value such as 2026-01-01'],
  [
    'since gt 2026-02-01T00:00:00',
    'at character 10: a time has an offset: append Z for UTC (2026-02-01T00:00:00Z), or one such as %2B02:00',
  ],
  [
    'since gt 2026-02-01T00:00:00+0200 and vip',
    'at character 10: an offset has a colon: 2026-02-01T00:00:00+02:00',
  ],
  [
    'since gt 2026-02-01 10:00 and vip',
    'at character 21: a date and a time are joined by "T": 2026-02-01T10:00Z',
  ],
  ['credit gt 5,5', 'at character 12: a decimal point is ".": write 5.5'],
  ['vip eq 1', 'vip is true or false; write true'],
  ['vip eq 0', 'vip is true or false; write false'],
  ['name eq 007', "name is text; write '007' in single quotes"],
  ['name in (007)', "name is text; write '007' in single quotes"],
  ['name eq 1.50', "name is text; write '1.50' in single quotes"],
  [
    'since gt now() sub P30D',
    `shop_customers has no property "P30D" (at character 20); a duration is written duration'P30D'`,
  ],
  [
    'since gt now() sub 30',
    "sub does not take Edm.DateTimeOffset and Edm.Int32; for 30 days write duration'P30D'",
  ],
  [
    'since eq today()',
    'there is no function "today" (at character 10); today is not a function of OData; write date(now())',
  ],
  [
    'since eq current_date',
    'shop_customers has no property "current_date" (at character 10); for this day in UTC write date(now())',
  ],
  ...['NULL', 'None', 'nil', 'undefined'].map(
    (word) =>
      [
        `name eq ${word}`,
        `shop_customers has no property "${word}" (at character 9); for no value write null`,
      ] as const,
  ),
]

test('a value in another form is refused with the form of OData', async () => {
  await using tables = await InMemoryTables.open()
  for (const [filter, message] of filters) {
    const refused = tables.refusal(`shop_customers?$filter=${encodeURIComponent(filter)}`)
    const separator = message.startsWith('at character') ? ' ' : ': '
    assert.is(refused.message, `$filter${separator}${message}`, filter)
  }
})

test('a call in groupby is computed first', async () => {
  await using tables = await InMemoryTables.open()
  for (const [apply, at, hint] of [
    ['groupby((year(since)))', 20, 'compute(year(since) as year)/groupby((year))'],
    [
      'filter(vip)/groupby((city,substring(name,0,1)),aggregate($count as n))',
      41,
      'compute(substring(name,0,1) as substring)/groupby((substring))',
    ],
  ] as const)
    assert.is(
      tables.refusal(`shop_customers?$apply=${encodeURIComponent(apply)}`).message,
      `$apply at character ${at}: groupby takes names; compute it first: ${hint}`,
    )
})

test('lists of numbers and calls with several arguments are no decimal commas', async () => {
  await using tables = await InMemoryTables.open()
  const { message } = tables.refusal('shop_customers?$filter=contains(name,5,5)')
  assert.is(message, '$filter: contains takes 2 arguments, not 3')
})

test.run()
