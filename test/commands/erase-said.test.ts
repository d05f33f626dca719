// What `eider erase` removes of what runs have said, also under names that are gone, and which other targets it names.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { findText } from '../support/find-text.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const SECRET = 'Mathilde-7f3a'

async function sendPeople(space: Workspace): Promise<void> {
  await using daemon = await startDaemon(space)
  const order = (id: number, customer: number, name: string) => {
    return { order_id: id, customer_id: customer, name, amount: 10 }
  }
  await sendOrders(space, daemon.url, [order(1, 7, SECRET), order(2, 8, 'Olga')])
}

test('what runs have said under a name that is gone, or before an edit, goes too; the rest stays', async () => {
  const checked = '-- @warn: length(called) < 10\nSELECT called FROM core.orders\n'
  await using space = await workspace({
    ...eraseFiles,
    'eider.yml': 'name: shop\nfailing_rows: 10\n',
    'models/mart/renamed.sql': checked,
    'models/mart/dropped.sql': checked,
    'models/mart/edited.sql': checked,
    'models/mart/other.sql': "-- @check: length(a) < 2\nSELECT 'too long' AS a\n",
  })
  await sendPeople(space)
  await space.ok(['run'], { exitCode: 1 })
  await space.ok(['mv', 'mart.renamed', 'mart.named'])
  await rm(join(space.dir, 'models/mart/dropped.sql'))
  await space.ok(['drop', 'mart.dropped'])
  await space.write('models/mart/edited.sql', "SELECT 'nobody' AS called\n")
  await space.ok(['run'], { exitCode: 1 })
  const before = await findText(space.dir, SECRET)
  assert.ok(before.includes('target/failing_rows/mart.renamed/1.ndjson'))
  assert.ok(before.includes('target/failing_rows/mart.dropped/1.ndjson'))
  await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.equal(await findText(space.dir, SECRET), [])
  const { stdout } = await space.ok(['history', 'mart.other'])
  assert.match(stdout, 'length(a) < 2 does not hold for 1 row')
  assert.ok(
    (await findText(space.dir, 'too long')).includes('target/failing_rows/mart.other/1.ndjson'),
  )
})

test('a model that was edited and not built since may hold the rows: it is named, and what it said goes', async () => {
  const named = '-- @warn: length(called) < 10\nSELECT called FROM core.orders\n'
  const after = '-- @kind: merge\n-- @unique_key: called\nSELECT called FROM mart.edited\n'
  await using space = await workspace({
    ...eraseFiles,
    'eider.yml': 'name: shop\nfailing_rows: 10\n',
    'models/mart/edited.sql': named,
    'models/mart/after.sql': after,
    'models/mart/other.sql': "-- @warn: length(a) < 2\nSELECT 'too long' AS a\n",
  })
  await sendPeople(space)
  await space.ok(['run'])
  assert.ok(
    (await findText(space.dir, SECRET)).includes('target/failing_rows/mart.edited/1.ndjson'),
  )
  await space.write('models/mart/edited.sql', "SELECT 'nobody' AS called\n")
  const condition = ['erase', 'raw.orders', 'customer_id = 7']
  const left = [
    'not erased: mart.edited, which may have been made from raw.orders before it, or a model that it reads, was edited\n  eider run, then this command with --rewrite\n',
    'not erased: mart.after, which may have been made from raw.orders before it, or a model that it reads, was edited\n  eider run, eider run mart.after --full-refresh, then this command with --rewrite\n',
  ]
  const dry = await space.ok([...condition, '--dry-run'])
  const { stderr } = await space.ok(condition)
  for (const text of left) {
    assert.match(dry.stderr, text)
    assert.match(stderr, text)
  }
  assert.not.match(stderr, 'mart.other')
  const between = await findText(space.dir, SECRET)
  assert.not.ok(between.some((path) => path.startsWith('target/')))
  assert.ok(
    (await findText(space.dir, 'too long')).includes('target/failing_rows/mart.other/1.ndjson'),
  )
  await space.ok(['run'])
  await space.ok(['run', 'mart.after', '--full-refresh'])
  const again = await space.ok([...condition, '--rewrite'])
  assert.not.match(again.stderr, 'not erased')
  assert.equal(await findText(space.dir, SECRET), [])
})

test('targets with separate rows are named', async () => {
  await using space = await workspace({
    ...eraseFiles,
    'eider.yml': 'name: shop\ntargets:\n  dev: {}\n  unused: {}\n',
  })
  await sendPeople(space)
  await space.ok(['run'])
  const condition = ['erase', 'raw.orders', 'customer_id = 7']
  assert.not.match((await space.ok([...condition, '--dry-run'])).stderr, 'target')
  await space.ok(['run', 'mart.sums', '--from', 'default', '--target', 'dev'])
  const { stderr } = await space.ok(condition)
  assert.match(
    stderr,
    'not erased: the target dev, which has separate rows\n  eider erase raw.orders "…" --target dev --rewrite\n',
  )
  assert.not.match(stderr, 'unused')
  const copies = async () =>
    (await findText(space.dir, SECRET)).filter((path) => path.startsWith('.eider/targets/'))
  assert.ok((await copies()).length > 0)
  await space.ok([...condition, '--target', 'dev', '--rewrite'])
  assert.equal(await copies(), [])
})

test.run()
