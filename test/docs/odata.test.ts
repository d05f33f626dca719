import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { functionNames, isUnserved } from '../../src/odata/functions.ts'
import { optionName } from '../../src/odata/options.ts'
import { precedenceOf } from '../../src/odata/precedence.ts'

/** The words in code of the first column, or of the second where the first is a topic, for rows of a table. */
async function tableOf(firstHeading: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile('docs/odata.md', 'utf8')
  const start = text.indexOf(`| ${firstHeading} `)
  assert.ok(start >= 0, firstHeading)
  const table = text.slice(start, text.indexOf('\n\n', start))
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, 3)
        .map((cell) => cell.trim()),
    )
}

const wordsIn = (cell: string) =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code!.split(' '))

test('the functions and operators of docs/odata.md are those of the code', async () => {
  const rows = await tableOf('in expressions')
  const served = rows.filter(([, what]) => what !== '501')
  const documented = new Set(
    served.flatMap(([, what]) => wordsIn(what!)).map((word) => word.toLowerCase()),
  )
  const syntax = ['not', 'case']
  const known = [...functionNames, ...Object.keys(precedenceOf), ...syntax]
  assert.equal([...documented].toSorted(), [...new Set([...known, 'has'])].toSorted())
  const unserved = rows.filter(([, what]) => what === '501').flatMap(([name]) => wordsIn(name!))
  assert.ok(unserved.length > 0)
  for (const name of unserved) assert.ok(isUnserved(name), name)
})

test('the options of docs/odata.md are known, and those with 501 are not served', async () => {
  for (const [names, what] of await tableOf('feature')) {
    const options = wordsIn(names!).flatMap((word) => /^\$[a-z]+/.exec(word)?.[0] ?? [])
    for (const option of options.filter((name) => !RESOURCES.includes(name))) {
      if (what === '501') assert.throws(() => optionName(option), /not supported/, option)
      else assert.is(optionName(option), option.slice(1), option)
    }
  }
})

/** Names of path segments, which share the `$` with options. */
const RESOURCES: readonly string[] = ['$batch', '$crossjoin', '$all']

test.run()
