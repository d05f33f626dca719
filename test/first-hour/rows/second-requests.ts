// Requests of the OData service with keys and texts that a URL must encode.

import type { Mistake } from '../mistake.ts'

const get = (id: string, mistake: string, url: string, answer: string): Mistake => ({
  id,
  mistake,
  ask: { get: url },
  answer,
  grade: 'A',
})

export const rows: readonly Mistake[] = [
  get(
    's21',
    'a slash within a key',
    "/mart_country_sales('A/B')",
    "400 the key is not closed: a slash within a key is written %2F: mart_country_sales('A%2FB')",
  ),
  get(
    's22',
    'a text key with leading zeros, without quotes',
    '/mart_country_sales(007)',
    "400 the key: country_id is text; write '007' in single quotes",
  ),
  get(
    's22-filter',
    'a text with leading zeros, without quotes',
    '/core_orders?$filter=country_id eq 007',
    "400 $filter: country_id is text; write '007' in single quotes",
  ),
  get(
    's23',
    'NULL in capitals',
    '/core_orders?$filter=country_id eq NULL',
    '400 $filter: core_orders has no property "NULL" (at character 15); for no value write null',
  ),
  get(
    's23-none',
    'None of Python',
    '/core_orders?$filter=country_id eq None',
    '400 $filter: core_orders has no property "None" (at character 15); for no value write null',
  ),
  get(
    's55',
    'an ampersand within a text',
    "/core_orders?$filter=status eq 'a&b'",
    '400 $filter at the end: expected a closing quote; within text "&" is written %26, "+" %2B and "#" %23',
  ),
]
