// What the program of EIDER_BINARY answers in a scenario, printed as JSON: a project from its first file on, by the command
// line and real HTTP. `node answers-child.js runs`: what runs and the commands around them do. `node answers-child.js
// services NAME`: what the daemon and the service answer; the program lacks that shortcut, so no trace of it is waited for.

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/core/limits.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { ODD_COUNT, oddRequest, plainRequest } from '../support/front-requests.ts'
import { say, shown } from '../support/raw-exchange.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'
import { plainTexts, sortedLines } from './plain-text.ts'
import { askService } from './service-requests.ts'

export interface Answers {
  /** By what was asked, in order. */
  readonly answers: readonly (readonly [asked: string, answer: string])[]
  /** Names of shortcuts that were seen to be at work. */
  readonly traces: readonly string[]
}

/** Takes down an answer; `plain` ones are as they are. */
export type Note = (asked: string, answer: string) => void

const SETTINGS = ['name: shop', 'vars:', '  least: 1', 'odata:', '  keep_minutes: 0', '']
const ITEMS = `-- @kind: table
-- @expose id
-- @description: Things to look up

SELECT i AS id, 'item ' || i AS name, (i % 7)::DECIMAL(9,2) / 4 AS price, DATE '2026-01-01' + (i % 90)::INTEGER AS since
FROM range(2000) AS numbers(i)
`

const FILES = {
  'eider.yml': SETTINGS.join('\n'),
  'data/rates.csv': 'country,rate\nNO,1\nSE,2\n',
  'models/raw/page_views.sql':
    '-- @kind: events\n\nevent_name VARCHAR NOT NULL,\nuser_id VARCHAR,\ncount BIGINT,\nreceived_at TIMESTAMPTZ\n',
  'models/core/rates.sql':
    "-- @kind: table\n-- @expose country\n\nSELECT country, rate FROM read_csv('data/rates.csv') WHERE rate >= ${least}\n",
  'models/mart/items.sql': ITEMS,
  'models/mart/words.sql':
    "-- @kind: table\n-- @expose word\n\nSELECT 'w' || i AS word, i AS length FROM range(300) AS numbers(i)\n",
  'models/mart/page_counts.sql':
    '-- @kind: table\n-- @expose event_name\n\nSELECT event_name, count(*) AS views, sum(count) AS total FROM raw.page_views GROUP BY event_name\n',
}

const SEED = 20260101

type Eider = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<void>

function noting(space: Workspace, note: Note): Eider {
  let number = 0
  return async (args, env = {}) => {
    const { command, exitCode, stdout, stderr } = await space.eider(args, { env })
    const asked = `${++number}: ${command}`
    note(asked, `exit code ${exitCode}\n${sortedLines(stdout)}\n${sortedLines(stderr)}`)
  }
}

async function begin(space: Workspace, eider: Eider): Promise<void> {
  await eider(['init', '.'])
  for (const [path, text] of Object.entries(FILES)) await space.write(path, text)
}

async function services(space: Workspace, note: Note): Promise<void> {
  const eider = noting(space, note)
  await begin(space, eider)
  await using daemon = await startDaemon(space)
  const beside = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  for (let round = 0; round < 2; round++) {
    await sendEvents(daemon, note)
    await eider(['run', '--json'], beside)
  }
  await daemon.stop()
}

async function runs(space: Workspace, note: Note): Promise<void> {
  const eider = noting(space, note)
  await begin(space, eider)
  await eider(['ls'])
  await using daemon = await startDaemon(space)
  const beside = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  await eider(['plan'], beside)
  await sendEvents(daemon, note)
  await eider(['run', '--json'], beside)
  await sendEvents(daemon, note)
  await eider(['run', '--json'], beside)
  await daemon.stop()
  await settle(eider)
  for (const command of ['run', 'ls', 'plan']) await eider([command])
  await artifacts(space, note, 'nothing to do')

  await space.write('models/mart/items.sql', ITEMS.replace('range(2000)', 'range(3000)'))
  await eider(['plan'])
  await eider(['run', '--json'])
  await artifacts(space, note, 'a changed model')
  await space.write('eider.yml', SETTINGS.join('\n').replace('least: 1', 'least: 2'))
  await eider(['run', '--json'])
  await space.write('data/rates.csv', 'country,rate\nNO,3\nSE,4\n')
  await eider(['run', '--json'])
  await space.write('models/mart/broken.sql', '-- @kind: table\n\nSELECT nothing FROM mart.items\n')
  await eider(['run', '--json'])
  await eider(['plan'])
  await space.write(
    'models/mart/broken.sql',
    '-- @kind: table\n\nSELECT max(id) AS id FROM mart.items\n',
  )
  await eider(['run', '--json', '--select', 'mart.broken'])
  await settle(eider)
  await eider(['run', '--full-refresh', '--json'])
  await settle(eider)
  await eider(['history', '--json'])
  await artifacts(space, note, 'the end')
}

/** When all has been left alone for a while, a run notes that the next one has nothing to do. */
async function settle(eider: Eider): Promise<void> {
  await sleep(limits.racyMs + 100)
  await eider(['run', '--json'])
  await eider(['run', '--json'])
}

async function sendEvents({ url }: Running, note: Note): Promise<void> {
  const random = seededRandom(SEED)
  for (let number = 0; number < ODD_COUNT; number++) {
    const requests = [plainRequest(random), plainRequest(random), oddRequest(random, number)]
    const bytes = Buffer.concat(requests)
    const { text } = await say(url, [bytes])
    note(
      `events ${JSON.stringify(bytes.toString('latin1').slice(0, 500))}`,
      shown(text, bytes.length).join('\n\n'),
    )
  }
}

/** What the run has left for other programs, and has published. */
async function artifacts(space: Workspace, note: Note, when: string): Promise<void> {
  for (const dir of ['target', '.eider/snapshots']) {
    const names = await readdir(space.path(dir))
    for (const name of names.toSorted()) {
      const isText = /^(?:manifest|run_results)\.json$|\.sql$/.test(name)
      if (!isText) continue
      note(`${dir}/${name} after ${when}`, await readFile(space.path(dir, name), 'utf8'))
    }
  }
}

const [, , scenario, lacks = null] = process.argv
await using space = await workspace()
const plain = plainTexts(space.dir)
const answers: [string, string][] = []
const note: Note = (asked, answer) => answers.push([plain(asked), plain(answer)])
await (scenario === 'runs' ? runs : services)(space, note)
const FILE_TRACES = { 'compiler/cache': 'compiled.json', 'pipeline/idle': 'idle.json' }
const traces =
  scenario === 'runs'
    ? Object.entries(FILE_TRACES).flatMap(([name, file]) =>
        existsSync(space.path('.eider', file)) ? [name] : [],
      )
    : await askService(space, note, lacks)
process.stdout.write(JSON.stringify({ answers, traces } satisfies Answers))
