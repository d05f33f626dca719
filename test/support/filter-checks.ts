// Filters on a set of one row: statements about values that hold or do not.

import * as assert from 'uvu/assert'
import type { InMemoryTables } from './in-memory-tables.ts'

export async function holds(fixture: InMemoryTables, filters: readonly string[]) {
  for (const filter of filters) assert.is(await fixture.ids('t_one', filter), '1', filter)
}

export async function fails(fixture: InMemoryTables, filters: readonly string[]) {
  for (const filter of filters) assert.is(await fixture.ids('t_one', filter), '', filter)
}

export function refused(fixture: InMemoryTables, code: string, filters: readonly string[]) {
  for (const filter of filters)
    assert.is(fixture.refusal(`t_one?$filter=${encodeURIComponent(filter)}`).code, code, filter)
}
