// A new project in a directory that has data.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findData } from '../../src/project/found-data.ts'
import { workspace } from '../support/workspace.ts'

const csv = 'id,n\n1,2\n'

test('CSV and Parquet files become sources with a model each, and build', async () => {
  await using space = await workspace({
    'People & places.csv': 'name\nAda\n',
    'data/bookings-2026-01.csv': csv,
    'data/bookings-2026-02.csv': 'id,n\n3,4\n',
    'data/2026.csv': csv,
    'notes.txt': 'mine',
  })
  await space.write('app.db', 'SQLite format 3\0')
  const { stdout } = await space.ok(['init', '--from-files'])
  assert.match(stdout, /eider run {21}builds 3 models/)
  assert.is(await readFile(space.path('notes.txt'), 'utf8'), 'mine')
  const config = await readFile(space.path('eider.yml'), 'utf8')
  assert.match(config, /bookings:\n {8}file: 'data\/bookings-\*\.csv'\n/)
  assert.match(config, /people_places:\n {8}file: 'People & places\.csv'\n/)
  assert.match(config, /# app:\n {2}# {3}sqlite: 'app\.db'\n/)
  await space.ok(['check'])
  await space.ok(['run'])
  const rows = await space.ok(['query', 'FROM staging.bookings ORDER BY id', '--format', 'csv'])
  assert.is(rows.stdout, 'id,n\r\n1,2\r\n3,4\r\n')
  const models = await readdir(space.path('models/staging'))
  assert.equal(models.toSorted(), ['bookings.sql', 'people_places.sql', 't_2026.sql'])
})

test('a database alone is a comment, and nothing there is refused', async () => {
  await using space = await workspace({})
  const none = await space.ok(['init', '--from-files'], { exitCode: 2 })
  assert.match(none.stderr, /there are no CSV, Parquet or SQLite files in /)
  await writeFile(space.path('shop.sqlite'), '')
  await space.ok(['init', '--from-files'])
  assert.match(
    await readFile(space.path('eider.yml'), 'utf8'),
    /\n# sources:\n {2}# Reading SQLite/,
  )
  await space.ok(['check'])
})

test('without a terminal and the flag, files that are there stay what they are', async () => {
  await using space = await workspace({ 'a.csv': csv })
  const { stdout } = await space.ok(['init'])
  assert.match(stdout, /^nothing was made of a\.csv: .* eider init --from-files$/m)
  assert.not.match(await readFile(space.path('eider.yml'), 'utf8'), /a\.csv/)
  const both = ['init', 'x', '--from-files', '--template', 'shop']
  await space.ok(both, { exitCode: 2 })
})

test('a name that would be something else in eider.yml or in a model is left out', async () => {
  const odd = [
    'a\n  evil: 1.csv',
    'b[1].csv',
    'c${HOME}.csv',
    'd*.csv',
    'e\t.csv',
    'f\'s "g": #h.csv',
  ]
  await using space = await workspace(Object.fromEntries(odd.map((name) => [name, csv])))
  await space.ok(['init', '--from-files'])
  await space.ok(['run'])
  const models = await readdir(space.path('models/staging'))
  assert.equal(models, ['f_s_g_h.sql'])
})

test('names of tables, and what is no data of a project', async () => {
  await using space = await workspace({
    'Été.csv': csv,
    'ete.tsv': csv,
    'models/x.csv': csv,
    'seeds/ref/x.csv': csv,
    '.hidden/x.csv': csv,
    'in/deeper/x.csv': csv,
    'in/one-1.csv.gz': '',
    'in/one-2.csv.gz': '',
    'in/one-x.csv': csv,
  })
  const { tables } = await findData(space.dir)
  assert.equal(
    tables.map(({ name, file }) => `${name} ${file.normalize('NFC')}`).toSorted(),
    ['ete ete.tsv', 'ete_2 Été.csv', 'one in/one-*.csv.gz', 'one_x in/one-x.csv'].toSorted(),
  )
})

test.run()
