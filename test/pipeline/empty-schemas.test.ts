import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rm } from 'node:fs/promises'
import { workspace } from '../support/workspace.ts'

test('a source may be called as a schema of models that are gone', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/files/old.sql': 'SELECT 1 AS a',
    'data/rates.csv': 'a\n7\n',
  })
  await space.ok(['run'])
  await rm(space.path('models/files'), { recursive: true })
  await space.ok(['drop', 'files.old'])
  await space.write(
    'eider.yml',
    'name: shop\nsources:\n  files:\n    tables:\n      rates: {file: data/rates.csv}\n',
  )
  await space.write('models/core/rates.sql', 'SELECT * FROM files.rates')
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', '--format', 'csv', 'FROM core.rates'])
  assert.equal(stdout.trim().split(/\s+/), ['a', '7'])
})

test.run()
