import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

test('a seed with a value that is not of its type fails with the line and what is wrong in it', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/ref/days.csv': 'day,name\n2026-01-01,New Year\nsoon,"Easter\nand on"\n',
    'seeds/ref/days.yml': 'columns:\n  day: DATE\n',
  })
  const { stdout } = await space.ok(['run'], { exitCode: 1 })
  assert.match(
    stdout,
    /failed +ref\.days +seeds\/ref\/days\.csv: line 3: the column "day" has soon, which is no date; .*csv: \{nulls: \['soon'\]\} reads it as NULL\n/,
  )
})

test.run()
