import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showPlan } from '../../src/cli/show-plan.ts'
import type { PlannedColumn, PlannedStep } from '../../src/core/report/planned-changes.ts'

function planOf(columns: readonly PlannedColumn[]): string {
  const step = {
    model: { name: 'raw.e' },
    action: 'build',
    because: 'columns changed',
    problem: null,
    warnings: [],
    notes: [],
    losses: [],
    ranges: [],
    diff: null,
    columns,
    events: {
      waiting: 1,
      rejected: 0,
      retried: 0,
      reasons: [],
      kept: [{ column: 'total', events: 1 }],
    },
  }
  return showPlan([step as unknown as PlannedStep], [])
}

const gone = { column: 'total', from: 'DECIMAL(10,2)', to: null }
const added = (column: string, type: string) => ({ column, from: null, to: type })

test('of a column that events still have, the only new one of its type may be the new name', () => {
  const named = (text: string) => /@renamed_from (\S+): total/.exec(text)?.[1]
  assert.is(named(planOf([gone, added('sum', 'DECIMAL(10,2)')])), 'sum')
  assert.is(named(planOf([gone, added('note', 'VARCHAR')])), 'NEW')
  assert.is(
    named(planOf([gone, added('sum', 'DECIMAL(10,2)'), added('other', 'DECIMAL(10,2)')])),
    'NEW',
  )
  assert.is(named(planOf([added('sum', 'DECIMAL(10,2)')])), 'NEW')
})

test.run()
