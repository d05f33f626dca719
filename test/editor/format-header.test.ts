// `eider fmt`: the form of heads, and that neither SQL nor meaning changes, over the projects that ship and random heads.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { statementsOf } from '../../src/compiler/sql/tokens.ts'
import type { Model } from '../../src/core/model.ts'
import { formatHeader } from '../../src/editor/format-header.ts'
import { compileTexts } from '../support/compile-texts.ts'
import { repository, workspace } from '../support/workspace.ts'

const cases = {
  'spacing, colons and case': [
    '--   @KIND   merge  \n--@unique_key:a,b\n--  @expose: a\nSELECT 1 AS a, 2 AS b',
    '-- @kind: merge\n-- @unique_key: a, b\n-- @expose a\n\nSELECT 1 AS a, 2 AS b',
  ],
  'order, with checks in theirs': [
    '-- @description: x\n-- @warn: a > 0\n-- @check: a < 9\n-- @kind: view\n\nSELECT 1 AS a\n',
    '-- @kind: view\n-- @warn: a > 0\n-- @check: a < 9\n-- @description: x\n\nSELECT 1 AS a\n',
  ],
  'one blank line, none within': [
    '-- @kind: view\n\n\n-- @owner: me\n\n\n\n  SELECT  1 AS a',
    '-- @kind: view\n-- @owner: me\n\n  SELECT  1 AS a',
  ],
  'comments keep their places': [
    '-- licence\n\n-- @owner:me\n-- why a view\n-- @kind: view\n\n-- the rest\nSELECT 1 AS a',
    '-- licence\n\n-- @owner: me\n-- why a view\n-- @kind: view\n\n-- the rest\n\nSELECT 1 AS a',
  ],
  'what is not understood stays': [
    '-- @knd:view\n-- @deletes:  perhaps\n-- @owner:a\nSELECT 1 AS a',
    '-- @knd:view\n-- @deletes:  perhaps\n-- @owner: a\n\nSELECT 1 AS a',
  ],
  'line ends of Windows': [
    '-- @owner:a\r\n-- @kind:view\r\nSELECT 1 AS a\r\n',
    '-- @kind: view\r\n-- @owner: a\r\n\r\nSELECT 1 AS a\r\n',
  ],
  'names in quotes': [
    '-- @unique_key: "a,b",c\n-- @kind: merge\nSELECT 1',
    '-- @kind: merge\n-- @unique_key: "a,b",c\n\nSELECT 1',
  ],
  'no SQL yet': ['-- @owner:a', '-- @owner: a\n'],
} as const

for (const [name, [given, expected]] of Object.entries(cases))
  test(name, () => {
    assert.is(formatHeader(given), expected)
    assert.is(formatHeader(expected), expected)
  })

test('a head in block comments, or without annotations, stays', () => {
  for (const text of [
    '/* a */\n--@kind:view\nSELECT 1',
    'SELECT 1\n--@kind: view',
    '',
    '-- a\nSELECT 1',
  ])
    assert.is(formatHeader(text), text)
})

test('what ships is in this form', () => {
  for (const top of ['templates', 'example-project']) {
    const files = readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((path) => path.endsWith('.sql'))) {
      const text = readFileSync(join(repository, top, file), 'utf8')
      assert.is(formatHeader(text), text, file)
    }
  }
})

/** The same numbers in each run. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

const LINES = [
  '@kind: merge',
  '@unique_key: id',
  '@unique_key: id,"k"',
  '@on_duplicate: latest(at)',
  '@deletes: mirror',
  '@expose id',
  '@tags:a,b',
  '@check: id > 0',
  '@check not_null(id)',
  '@warn: "k"  <  10 up to 1%',
  '@description: Some, text -- with: signs',
  '@column id: the  key',
  '@owner: somebody',
]
/** A comment below one of them would seem to go on with its text. */
const OF_TEXT = /^@(description|column|owner)/
const BODY = 'SELECT 1 AS id, 2 AS k, now() AS at -- end\n'

/** Without the places and the file, which do change. */
const meaning = (model: Model) =>
  JSON.stringify(model, (key, value: unknown) => {
    if (['source', 'span', 'places'].includes(key)) return undefined
    return typeof value === 'bigint' ? String(value) : value
  })

test('random heads keep their meaning and their SQL, and are formatted once', async () => {
  const pick = random(7)
  const texts: Record<string, string> = {}
  for (let i = 0; i < 150; i++) {
    const names = new Set<string>()
    const lines = Array.from({ length: 1 + pick(7) }, () => LINES[pick(LINES.length)]!)
    const head = lines.flatMap((line) => {
      const name = /^@\w+/.exec(line)![0]
      if (names.has(name) && name !== '@check') return []
      names.add(name)
      const text = `--${' '.repeat(pick(3))}${line}${' '.repeat(pick(2))}`
      return [
        text,
        ...(pick(5) === 0 ? [''] : []),
        ...(pick(5) === 0 && !OF_TEXT.test(line) ? ['-- a note'] : []),
      ]
    })
    texts[`a.m${i}`] = `${head.join('\n')}\n${BODY}`
  }
  const isWhole = (text: string) => {
    const kind = text.includes('@kind')
    return kind ? text.includes('@unique_key') : !/@(unique_key|on_duplicate|deletes)/.test(text)
  }
  // An entity set without a key, or two of one key, is a warning; a kind without its key a mistake.
  const good = Object.entries(texts).filter(([, text]) => isWhole(text))
  assert.ok(good.length > 40, String(good.length))
  const formatted = good.map(([name, text]): [string, string] => [name, formatHeader(text)])
  assert.ok(formatted.some(([, text], i) => text !== good[i]![1]))
  for (const [i, [name, text]] of formatted.entries()) {
    assert.is(formatHeader(text), text, name)
    assert.ok(text.endsWith(BODY), name)
    const count = (one: string) => statementsOf({ path: '', text: one }).header.length
    assert.is(count(text), count(good[i]![1]), name)
  }
  const [before, after] = [
    await compileTexts(Object.fromEntries(good)),
    await compileTexts(Object.fromEntries(formatted)),
  ]
  for (const [name, model] of before.models)
    assert.is(meaning(after.models.get(name)!), meaning(model), texts[name])
})

test('the command: files, --check, stdin', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/a/good.sql': '-- @kind: view\n\nSELECT 1 AS a\n',
    'models/a/bad.sql': '--@kind:view\nSELECT 1 AS a\n',
    'checks/c.sql': '--@description:none\nSELECT 1 FROM a.bad WHERE a > 1\n',
  })
  const { stdout: listed } = await space.ok(['fmt', '--check'], { exitCode: 1 })
  assert.is(listed, 'models/a/bad.sql\nchecks/c.sql\n2 of 3 files would change\n')
  assert.is(readFileSync(space.path('models/a/bad.sql'), 'utf8'), '--@kind:view\nSELECT 1 AS a\n')
  const { stdout: done } = await space.ok(['fmt', '--json'])
  assert.match(done, '{"event":"fmt-finished","ok":true,"files":3,"changed":2}')
  assert.is(
    readFileSync(space.path('models/a/bad.sql'), 'utf8'),
    '-- @kind: view\n\nSELECT 1 AS a\n',
  )
  assert.match((await space.ok(['fmt', '--check', 'models/a/bad.sql'])).stdout, '0 of 1 file would')
  const { stderr } = await space.ok(['fmt', 'models/none.sql'], { exitCode: 2 })
  assert.match(stderr, 'models/none.sql cannot be read')
})

test.run()
