// docs/sources.md against the code: what may stand in eider.yml.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SECRET_KEYS } from '../../src/project/sources/secrets.ts'
import { SOURCE_KEYS } from '../../src/project/sources/sources.ts'
import { TABLE_KEYS } from '../../src/project/sources/tables.ts'
import { repository } from '../support/workspace.ts'

const page = readFileSync(join(repository, 'docs', 'sources.md'), 'utf8')

/** First and second cell of each row of the tables whose head begins so. */
function rowsOf(text: string, head: string): readonly (readonly [string, string])[] {
  return text
    .split(/\n\n/)
    .filter((block) => block.replaceAll(/ +/g, ' ').startsWith(head))
    .flatMap((block) => block.split('\n').slice(2))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, first = '', second = '']) => [first, second] as const)
}

test('every key of a source and of a table has a row, every row a key', () => {
  const keys = rowsOf(page, '| key | meaning |').map(([key]) => key)
  assert.equal(keys, [...SOURCE_KEYS, ...TABLE_KEYS])
})

test('every key of a secret has a row, every row a key', () => {
  const rows = rowsOf(page, '| key | of | meaning |')
  for (const type of ['s3', 'http'] as const) {
    const keys = rows.filter(([, of]) => of === type || of === '').map(([key]) => key)
    assert.equal(keys, [...SECRET_KEYS[type]])
  }
})

test.run()
