import { rm } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import {
  type Board,
  type Boards,
  readChartAddress,
  type ShownBoard,
} from '../../src/core/boards.ts'
import { parseModelName } from '../../src/core/names.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { boardsPage } from '../../src/explorer/boards.ts'
import { readBoardsOf } from '../../src/project/files.ts'
import { workspace } from '../support/workspace.ts'

const chart = (set: string) => ({ title: `About ${set}`, text: null, set, query: 'x=a' })

const boards: readonly Board[] = [
  {
    name: 'sales',
    title: 'Sales',
    description: 'Pay of the board: 7',
    charts: [chart('core_orders'), chart('secret_pay')],
  },
  { name: 'pay', title: 'Pay', description: null, charts: [chart('secret_pay')] },
]

function shownWith(...models: readonly string[]): readonly ShownBoard[] {
  const all = { boards, omitted: 3 }
  const relations = models.map((name) => ({ model: parseModelName(name)! }))
  const { body, status } = boardsPage(all, { relations } as unknown as Snapshot, true)
  assert.is(status, 200)
  const { boards: shown, omitted } = JSON.parse(body.toString('utf8')) as Boards
  assert.is(omitted, 3)
  return shown as readonly ShownBoard[]
}

test('a reader gets the charts of the sets that it may read, and what is said of these', () => {
  const text = JSON.stringify(shownWith('core.orders'))
  assert.equal(JSON.parse(text), [
    { ...boards[0], description: null, charts: [chart('core_orders')], hidden: 1 },
  ])
  assert.not.match(text, /pay/i)
  assert.equal(shownWith(), [])
})

test('how many boards are left out is not told to who may read some sets only', () => {
  const { body } = boardsPage({ boards, omitted: 3 }, null, false)
  assert.is((JSON.parse(body.toString('utf8')) as Boards).omitted, 0)
})

test('who may read all sets gets all of it', () => {
  assert.equal(
    shownWith('core.orders', 'secret.pay'),
    boards.map((board) => ({ ...board, hidden: 0 })),
  )
})

test('of more boards than a project has, the first by name are read, and the others are counted', async () => {
  const path = (i: number) => `boards/b${String(i).padStart(3, '0')}.yml`
  const files = Array.from({ length: 203 }, (_, i) => [path(i), 'charts: []\n'] as const)
  await using space = await workspace({ ...Object.fromEntries(files), 'boards/notes.txt': '' })
  const { boards: read, omitted } = await readBoardsOf(space.dir)
  assert.is(read.length, 200)
  assert.is(read.at(-1)!.name, 'b199')
  assert.is(omitted, 3)
  await rm(space.path(path(0)))
  await rm(space.path(path(1)))
  await rm(space.path(path(2)))
  assert.is((await readBoardsOf(space.dir)).omitted, 0)
})

test('the address of a chart is read as a browser shows it, and nothing else is', () => {
  const of = { set: 'core_orders', query: 'x=day&y=a%20b' }
  for (const address of [
    '/sets/core_orders/chart?x=day&y=a%20b',
    'sets/core_orders/chart?x=day&y=a%20b',
    'https://data.example.com/prefix/sets/core_orders/chart?x=day&y=a%20b#top',
  ])
    assert.equal(readChartAddress(address), of, address)
  assert.equal(readChartAddress('/sets/%C3%A5r/chart'), { set: 'år', query: '' })
  for (const text of [
    '',
    '/lineage',
    '/sets/a',
    '/sets/a/columns?x=b',
    '/sets/%E0/chart',
    '/sets/a/chart/b',
  ])
    assert.is(readChartAddress(text), null, text)
})

test.run()
