// Bytes of a published file change on disk while a service has it open. Its model has not changed.

import { readdir, readFile, stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseManifest } from '../../src/core/snapshot.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { flipBit } from '../support/flip-bit.ts'
import { until } from '../support/until.ts'

const ROWS = 60_000
const other = (id: number) => `-- @expose id\nSELECT ${id} AS id`
const files = {
  'eider.yml': 'name: damage\n',
  'models/mart/hit.sql': `-- @expose id\nSELECT i AS id, 'text ' || hash(i) AS text, hash(i, 1) AS number FROM range(${ROWS}) AS r(i)`,
  'models/mart/other.sql': other(1),
}

const publishedFile = async (space: Workspace): Promise<string> => {
  const text = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  return parseManifest(text).relations.find(({ model }) => model === 'mart.hit')!.file
}

const flipRows = async (path: string) => flipBit(path, Math.floor((await stat(path)).size / 3))

const healthOf = async (url: string): Promise<string> => {
  const response = await fetch(url.replace(/\/odata$/, '/health'))
  return ((await response.json()) as { status: string }).status
}

/** By a request that needs every block; each time another one, so that none is answered from memory. */
let asked = 0
async function statusOfAll(url: string): Promise<number> {
  const filter = encodeURIComponent(`contains(text,'text') and number ne ${++asked}`)
  return (await fetch(`${url}/mart_hit/$count?$filter=${filter}`)).status
}

const markers = async (space: Workspace) =>
  (await readdir(space.path('.eider/snapshots'))).filter((name) => name.endsWith('.damaged'))

test('a service names the damaged file, keeps the rest, and is whole again after the next run', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const file = await publishedFile(space)
  await space.write('models/mart/other.sql', other(2))
  await space.ok(['run', '--quiet'])
  assert.is(await publishedFile(space), file)
  const service = await space.start(['serve', '--port', '0'])
  const { url } = service
  await flipRows(space.path('.eider/snapshots', file))

  assert.is(await healthOf(url), 'ok', 'nobody has read the block yet')
  assert.is(await statusOfAll(url), 500)
  await until(async () => (await healthOf(url)) === 'stale')
  assert.match(service.stderr(), 'snapshot-refused')
  assert.match(service.stderr(), `${file} is damaged`)
  const rest = await fetch(`${url}/mart_other(2)`)
  assert.is(rest.status, 200, 'the newest stays, as the snapshot before has the same file')

  const ports = { env: { COLLECT_PORT: '0', ODATA_PORT: '0' } }
  const { stdout } = await space.ok(['doctor'], { ...ports, exitCode: 1 })
  assert.match(stdout, new RegExp(`fail +snapshot +${file} is damaged\n +next: .*eider run`))

  await space.ok(['run', '--quiet', 'mart.other'])
  assert.equal(await markers(space), [`${file}.damaged`], 'that run was not about its model')
  await space.ok(['run', '--quiet'])
  await until(async () => (await healthOf(url)) === 'ok')
  assert.is(await statusOfAll(url), 200)
  assert.equal(await markers(space), [])
  assert.is(await service.stop(), 0)
})

test('doctor looks at the other tables, and names the sets and who reads them', async () => {
  const hash = '1'.repeat(64)
  await using space = await workspace({
    ...files,
    'eider.yml': `name: damage\nodata:\n  tokens:\n    - name: excel\n      hash: sha256:${hash}\n      sets: [mart_hit]\n`,
  })
  await space.ok(['run', '--quiet'])
  const path = space.path('.eider/snapshots', await publishedFile(space))
  // Where DuckDB looks as soon as it opens the file.
  await flipBit(path, 8_200)
  const ports = { env: { COLLECT_PORT: '0', ODATA_PORT: '0' } }
  const { stdout } = await space.ok(['doctor'], { ...ports, exitCode: 1 })
  assert.match(
    stdout,
    'next: delete the damaged files, which are those of mart_hit, read by the token "excel", then: eider run',
  )
  assert.match(stdout, /^ok +tables /m)
})

test.run()
