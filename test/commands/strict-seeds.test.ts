// A seed with a mistake keeps the table that it had. Left to itself the engine's reader drops rows and headers.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

async function rowsOf(space: Workspace, tables: readonly string[]): Promise<string> {
  const query = tables.map((table) => `FROM ref.${table}`).join(' UNION ALL ')
  const { stdout } = await space.ok(['query', query, '--format', 'csv'])
  return stdout.replaceAll('\r', '')
}

const mistakes = {
  more: ['a,b\n1,2\n1,2,3\n4,5\n', '3:5', 'this row has 3 fields, the header has 2 (a, b)'],
  last: ['a,b\n1,2\n1,2,3\n', '3:5', 'this row has 3 fields, the header has 2 (a, b)'],
  fewer: ['a,b\n1,2\n1\n', '3:1', 'this row has 1 field, the header has 2 (a, b)'],
  empty: ['', '1:1', 'the first line is blank, and must name the columns'],
  open: ['a,b\n1,"abc\n2,x\n', '2:3', 'a quote is opened and never closed'],
} as const

test('a CSV with a row that differs, an open quote or no header is an error with its line, and the table stays', async () => {
  const names = Object.keys(mistakes)
  await using space = await workspace({ 'eider.yml': 'name: s\n' })
  for (const name of names) await space.write(`seeds/ref/${name}.csv`, 'a,b\n7,8\n')
  await space.ok(['run'])
  for (const [name, [text]] of Object.entries(mistakes))
    await space.write(`seeds/ref/${name}.csv`, text)
  const { stdout, stderr } = await space.ok(['run'], { exitCode: 1 })
  for (const [name, [, place, problem]] of Object.entries(mistakes))
    assert.ok(
      (stdout + stderr).includes(`seeds/ref/${name}.csv:${place} error seed-row: ${problem}\n`),
      stdout + stderr,
    )
  assert.is(await rowsOf(space, names), 'a,b\n' + '7,8\n'.repeat(names.length))
})

test('a CSV may be separated by semicolons, tabs or bars, have blank lines, and a header of numbers', async () => {
  await using space = await workspace({ 'eider.yml': 'name: s\n' })
  const texts = ['2025;2026\n7;8\n', 'a\tb\n7\t8\n\n', 'a|b\r\n\r\n7|8', '\ufeffa,b\n"7",8\n']
  for (const [i, text] of texts.entries()) await space.write(`seeds/ref/s${i}.csv`, text)
  await space.ok(['run'])
  assert.is(await rowsOf(space, ['s0', 's1', 's2', 's3']), '2025,2026\n' + '7,8\n'.repeat(4))
})

test.run()
