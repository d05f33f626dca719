import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hashFiles } from '../../src/compiler/file-hashes.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

/** Names of files as models may write them, each with the file that is meant; `home` is the home directory. */
const names: Readonly<Record<string, string>> = {
  'data/plain.csv': 'data/plain.csv',
  'data/p*.csv': 'data/plain.csv',
  './data/../data/plain.csv': 'data/plain.csv',
  data: 'data/deep/more.csv',
  'data/': 'data/deep/more.csv',
  '~/own.csv': 'home/own.csv',
  '~/o*.csv': 'home/own.csv',
  '~': 'home/own.csv',
  'file:DIR/data/plain.csv': 'data/plain.csv',
  'file:DIR/data/p*.csv': 'data/plain.csv',
  'file:DIR/data': 'data/deep/more.csv',
  'DIR/data/p?ain.csv': 'data/plain.csv',
}

const total = async (space: Workspace, model: string) => {
  const { stdout } = await space.ok(['query', `SELECT sum(a) AS a FROM ${model}`, '--json'])
  return (JSON.parse(stdout) as { a: unknown }).a
}

test('a change of a file is seen, whatever way its name is written', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'data/plain.csv': 'a\n1\n',
    'data/deep/more.csv': 'a\n1\n',
    'home/own.csv': 'a\n1\n',
    'seeds/ref/x1.csv': 'a\n1\n',
    'seeds/ref/x[1].csv': 'a\n1\n',
    'seeds/ref/y*.csv': 'a\n1\n',
  })
  const models = Object.entries(names).map(([name, file], i) => ({ name, file, model: `m.m${i}` }))
  for (const [i, { name }] of models.entries()) {
    const path = name.replace('DIR', space.dir)
    await space.write(`models/m/m${i}.sql`, `SELECT * FROM read_csv('${path}')\n`)
  }
  await space.write('models/m/pivot.sql', 'PIVOT "data/plain.csv" ON a USING sum(a) AS a\n')
  const options = { env: { HOME: space.path('home') } }
  await space.ok(['run'], options)
  const seeds = ['seeds/ref/x[1].csv', 'seeds/ref/y*.csv']
  for (const file of new Set([...Object.values(names), ...seeds])) await space.write(file, 'a\n9\n')
  const built = (await space.ok(['run'], options)).stdout
  assert.match(built, /built +m\.pivot +1 row,/)
  for (const { name, file, model } of models) {
    // The directory has two files.
    const expected = /data\/?$/.test(name) ? 18 : 9
    assert.equal(Number(await total(space, model)), expected, `${name} for ${file}`)
  }
  for (const seed of ['ref."x[1]"', 'ref."y*"'])
    assert.equal(Number(await total(space, seed)), 9, seed)
  assert.match((await space.ok(['query', 'FROM m.pivot'])).stdout, '9')
  const { stdout } = await space.ok(['run', '--json', '--exclude', 'm.pivot'], options)
  assert.not.match(stdout, '"status":"built"')
})

test('the same file gives other rows when a column of it is read as text', async () => {
  await using space = await workspace({ 'data/a.csv': 'c\nNO\n' })
  await using database = await Database.open({ path: ':memory:', searchDir: space.dir })
  await using connection = await database.connect()
  const hashOfFile = async (asText: readonly string[]) => {
    const externals = new Map([['data/a.csv', { is: 'file', asText } as const]])
    const hashes = await hashFiles(connection, space.dir, [{ files: ['data/a.csv'] }], externals)
    return hashes.get('data/a.csv')
  }
  assert.is(await hashOfFile([]), await hashOfFile([]))
  assert.is.not(await hashOfFile(['c']), await hashOfFile([]))
})

test.run()
