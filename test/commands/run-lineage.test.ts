// The lineage of a run, sent to a collector of the test and written to a file.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  clientTest,
  eventsIn,
  judgeEvents,
  type LineageEvent,
  told,
} from '../support/open-lineage.ts'
import { freePort } from '../support/free-port.ts'
import { receiver } from '../support/receiver.ts'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': `name: shop
openlineage: {file: lineage.ndjson}
vars: {key: S3cret}
sources:
  files:
    tables:
      rates: {file: data/rates.csv}
targets: {prod: }
`,
  'data/rates.csv': 'id,rate\n1,2.5\n',
  'seeds/ref/names.csv': 'id,name\n1,Xyzzy\n',
  'models/core/good.sql': `-- @description: All of it
-- @owner: team-a
-- @column id: The number
SELECT n.id, upper(n.name) AS name, r.rate, 7 AS seven, \${key} = 'a' AS same
FROM ref.names n JOIN files.rates r USING (id)
`,
  'models/core/bad.sql': "-- @check: name = 'no'\nSELECT id, name FROM core.good\n",
  'models/core/last.sql': 'SELECT id FROM core.bad\n',
}

const of = (events: readonly LineageEvent[], type: string, job: string) =>
  events.find(({ eventType, job: { name } }) => eventType === type && name === job)!

test('a run tells what it built, of which columns, and no value of a row', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'], { exitCode: 1 })
  const text = readFileSync(space.path('lineage.ndjson'), 'utf8')
  for (const hidden of [/xyzzy/i, /S3cret/]) assert.not.match(text, hidden)
  const events = eventsIn(text)
  assert.equal(told(events).toSorted(), [
    'COMPLETE core.good',
    'COMPLETE ref.names',
    'FAIL core.bad',
    'FAIL run',
    'START core.bad',
    'START core.good',
    'START ref.names',
    'START run',
  ])
  assert.is(told(events)[0], 'START run')
  assert.is(told(events).at(-1), 'FAIL run')
  const run = of(events, 'START', 'run').run.runId
  const good = of(events, 'COMPLETE', 'core.good')
  assert.is(good.run.runId, of(events, 'START', 'core.good').run.runId)
  assert.equal(good.run.facets['parent']!['run'], { runId: run })
  assert.equal(
    good.inputs.map(({ namespace, name }) => [namespace, name]),
    [
      ['shop', 'ref.names'],
      ['file', space.path('data/rates.csv')],
    ],
  )
  const [output] = good.outputs
  const { schema, columnLineage, documentation, ownership } = output!.facets!
  assert.equal(schema!['fields'], [
    { name: 'id', type: 'BIGINT', ordinal_position: 1, description: 'The number' },
    { name: 'name', type: 'VARCHAR', ordinal_position: 2 },
    { name: 'rate', type: 'DOUBLE', ordinal_position: 3 },
    { name: 'seven', type: 'INTEGER', ordinal_position: 4 },
    { name: 'same', type: 'BOOLEAN', ordinal_position: 5 },
  ])
  const from = (namespace: string, name: string, field: string) => {
    return { inputFields: [{ namespace, name, field }] }
  }
  assert.equal(columnLineage!['fields'], {
    id: from('shop', 'ref.names', 'id'),
    name: from('shop', 'ref.names', 'name'),
    rate: from('file', space.path('data/rates.csv'), 'rate'),
  })
  assert.is(documentation!['description'], 'All of it')
  assert.equal(ownership!['owners'], [{ name: 'team-a' }])
  assert.is(output!.outputFacets!['outputStatistics']!['rowCount'], 1)
  assert.match(String(good.job.facets['sql']!['query']), '${key}')
  const bad = of(events, 'FAIL', 'core.bad').run.facets['errorMessage']!
  assert.is(bad['message'], 'models/core/bad.sql:1:4')

  await space.write('models/core/bad.sql', 'SELECT id, name FROM core.good\n')
  await space.ok(['run', '--quiet'])
  const more = eventsIn(readFileSync(space.path('lineage.ndjson'), 'utf8')).slice(events.length)
  assert.equal(told(more).toSorted(), [
    'COMPLETE core.bad',
    'COMPLETE core.last',
    'COMPLETE run',
    'START core.bad',
    'START core.last',
    'START run',
  ])
  assert.is(told(more).at(-1), 'COMPLETE run')
  await space.ok(['run', '--quiet', '--target', 'prod'])
  const ofProd = eventsIn(readFileSync(space.path('lineage.ndjson'), 'utf8')).at(-1)!
  assert.is(ofProd.job.namespace, 'shop.prod')
})

clientTest('the client of OpenLineage takes every event, with all its facets', async () => {
  await using space = await workspace(files)
  const parent = 'airflow/dag.task/3f5e83fa-3480-44ff-99c5-ff943904e5e8'
  await space.ok(['run', '--quiet'], { exitCode: 1, env: { OPENLINEAGE_PARENT_ID: parent } })
  const events = eventsIn(readFileSync(space.path('lineage.ndjson'), 'utf8'))
  const { run, job } = of(events, 'START', 'run').run.facets['parent']!
  assert.equal(
    [run, job],
    [{ runId: '3f5e83fa-3480-44ff-99c5-ff943904e5e8' }, { namespace: 'airflow', name: 'dag.task' }],
  )
  const judged = await judgeEvents(space.path('lineage.ndjson'))
  assert.is(judged.events, events.length)
  assert.equal(judged.facets, [
    'ColumnLineageDatasetFacet',
    'DocumentationDatasetFacet',
    'ErrorMessageRunFacet',
    'JobTypeJobFacet',
    'OutputStatisticsOutputDatasetFacet',
    'OwnershipDatasetFacet',
    'ParentRunFacet',
    'ProcessingEngineRunFacet',
    'SQLJobFacet',
    'SchemaDatasetFacet',
    'TagsRunFacet',
  ])
})

test('a collector gets each event by itself, with the token, at its own address', async () => {
  await using to = await receiver((response) => response.writeHead(201).end())
  await using space = await workspace({
    ...files,
    'eider.yml': `${files['eider.yml'].replace('{file: lineage.ndjson}', '{url: "${COLLECTOR}", token: "${KEY}", namespace: ours}')}`,
  })
  const env = { COLLECTOR: `${to.url}/base/`, KEY: 'k3y' }
  await space.ok(['run', '--quiet'], { exitCode: 1, env })
  assert.is(to.received.length, 8)
  for (const { path, headers, text } of to.received) {
    assert.is(path, '/base/api/v1/lineage')
    assert.is(headers.authorization, 'Bearer k3y')
    assert.is((JSON.parse(text) as LineageEvent).job.namespace, 'ours')
  }
  const given = { COLLECTOR: `${to.url}/v2/lineage?key=1`, KEY: 'k3y' }
  await space.ok(['run', '--quiet'], { exitCode: 1, env: given })
  assert.is(to.received.at(-1)!.path, '/v2/lineage?key=1')
  const { length } = to.received
  await space.ok(['run', '--quiet'], { exitCode: 1, env: { ...env, OPENLINEAGE_DISABLED: 'true' } })
  assert.is(to.received.length, length)
})

test('a collector that refuses, redirects, hangs or is not there costs one warning, and no secret is in it', async () => {
  const { 'eider.yml': _config, ...models } = {
    ...files,
    'models/core/bad.sql': 'SELECT 1 AS id\n',
  }
  await using space = await workspace({
    ...models,
    'eider.yml':
      'name: shop\nsources: {files: {tables: {rates: {file: data/rates.csv}}}}\nvars: {key: a}\n',
  })
  const warned = async (url: string, says: RegExp) => {
    const env = { OPENLINEAGE_URL: `${url}/?key=k3y`, OPENLINEAGE_API_KEY: 'k3y' }
    const { stderr } = await space.ok(['run', '--full-refresh'], { env })
    assert.match(stderr, says)
    assert.is(stderr.split('lineage-not-sent').length, 2)
    assert.not.match(stderr, 'k3y')
  }
  await using elsewhere = await receiver((response) => response.end())
  await using broken = await receiver((response) => response.writeHead(500).end())
  await warned(broken.url, /"lost":10,"events":10,"problem":"500"/)
  await using moved = await receiver((response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  )
  await warned(moved.url, /"lost":10,"events":10,"problem":"307"/)
  assert.is(elsewhere.received.length, 0)
  await using silent = await receiver(() => {})
  await warned(silent.url, /"lost":10,"events":10,"problem":"no answer in time"/)
  const gone = `http://127.0.0.1:${await freePort()}`
  await warned(gone, /"lost":10,"events":10,"problem":"ECONNREFUSED"/)
  await using endless = await receiver((response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(100_000)), 1)
    response.on('close', () => clearInterval(timer))
    response.on('error', () => clearInterval(timer))
  })
  const env = { OPENLINEAGE_URL: endless.url }
  const { stderr } = await space.ok(['run', '--full-refresh'], { env })
  assert.not.match(stderr, 'lineage-not-sent')
})

test('a run that is interrupted aborts what it had begun', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\nopenlineage: {file: lineage.ndjson}\n',
    'models/core/slow.sql':
      'SELECT sum(a.range * b.range) AS s FROM range(1000000) a, range(1000000) b\n',
  })
  await using run = await space.start(['run'], { ready: 'model-started' })
  await run.stop('SIGTERM')
  const events = eventsIn(readFileSync(space.path('lineage.ndjson'), 'utf8'))
  assert.equal(told(events), ['START run', 'START core.slow', 'ABORT core.slow', 'ABORT run'])
})

test('a file that cannot be written is a warning, and so is a URL an error that does not show it', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\nopenlineage:\n  file: no/such/file\n',
    'models/core/one.sql': 'SELECT 1 AS id\n',
  })
  const { stderr } = await space.ok(['run'])
  assert.match(stderr, /lineage-not-sent.*"to":"file".*ENOENT/)
  await space.write('eider.yml', 'name: shop\nopenlineage:\n  url: https://user:k3y@host/\n')
  const refused = await space.ok(['run'], { exitCode: 1 })
  assert.match(refused.stderr, 'eider.yml:3:8')
  assert.match(refused.stderr, 'must be an http or https URL without a user')
  assert.not.match(refused.stderr, 'k3y')
})

test('SQL is told without keys in URLs and without known secrets, and so are descriptions', async () => {
  await using space = await workspace({
    'eider.yml': `name: shop
openlineage: {file: lineage.ndjson, token: "\${KEY}"}
sources:
  files:
    tables:
      rates: {file: "data/\${PART}.csv"}
`,
    'data/P4rtPath.csv': 'id\n1\n',
    'models/core/one.sql': `-- @description: Not K3yOfOurs
SELECT r.id, 'https://me:Us3r@h.example/a?sig=S1gned' AS url, 'K3yOfOurs' AS k, 'P4rtPath' AS p
FROM files.rates r
`,
  })
  await space.ok(['run', '--quiet'], { env: { KEY: 'K3yOfOurs', PART: 'P4rtPath' } })
  const text = readFileSync(space.path('lineage.ndjson'), 'utf8')
  for (const hidden of ['Us3r', 'S1gned', 'K3yOfOurs']) assert.not.match(text, hidden)
  const one = of(eventsIn(text), 'COMPLETE', 'core.one')
  assert.match(
    String(one.job.facets['sql']!['query']),
    `'https://***@h.example/a?***' AS url, '***' AS k, '\${PART}' AS p`,
  )
  assert.is(one.outputs[0]!.facets!['documentation']!['description'], 'Not ***')
})

const oneModel = { 'eider.yml': 'name: shop\n', 'models/core/one.sql': 'SELECT 1 AS id\n' }

test('variables of other tools that are not usable are one warning of a run, and nothing is sent', async () => {
  await using to = await receiver((response) => response.end())
  await using space = await workspace(oneModel)
  for (const [env, says] of [
    [{ OPENLINEAGE_URL: 'mar:quez' }, /OPENLINEAGE_URL must be an http or https URL/],
    [{ OPENLINEAGE_URL: to.url, OPENLINEAGE_API_KEY: 'k3y\nk3y' }, /OPENLINEAGE_API_KEY must be a/],
    [
      { OPENLINEAGE_URL: to.url, OPENLINEAGE_API_KEY: 'k3y\u20ac' },
      /OPENLINEAGE_API_KEY must be a/,
    ],
  ] as const) {
    const { stderr } = await space.ok(['run'], { env })
    assert.match(stderr, says)
    assert.is(stderr.split('lineage-not-sent').length, 2)
    assert.not.match(stderr, /k3y|mar:quez/)
    const checked = await space.ok(['check'], { env })
    assert.not.match(checked.stderr, 'OPENLINEAGE')
    const off = await space.ok(['run'], { env: { ...env, OPENLINEAGE_DISABLED: 'true' } })
    assert.not.match(off.stderr, 'OPENLINEAGE')
  }
  const unused = await space.ok(['run'], { env: { OPENLINEAGE_API_KEY: 'k3y\nk3y' } })
  assert.not.match(unused.stderr, 'OPENLINEAGE')
  assert.is(to.received.length, 0)
  const env = { OPENLINEAGE_URL: to.url, OPENLINEAGE_API_KEY: ' k3y\n' }
  await space.ok(['run', '--full-refresh'], { env })
  assert.is(to.received[0]!.headers.authorization, 'Bearer k3y')
})

test('a token of eider.yml that no header can hold is an error with its place', async () => {
  await using space = await workspace({
    ...oneModel,
    'eider.yml': 'name: shop\nopenlineage:\n  token: "${KEY}"\n',
  })
  const filled = await space.ok(['run'], { exitCode: 1, env: { KEY: 'k3y\nk3y' } })
  assert.match(filled.stderr, 'eider.yml:3:10')
  await space.write('eider.yml', 'name: shop\nopenlineage:\n  token: "k3y\u20ac"\n')
  const written = await space.ok(['run'], { exitCode: 1 })
  assert.match(written.stderr, 'eider.yml:3:10')
  for (const { stderr } of [filled, written]) {
    assert.match(stderr, '"openlineage.token" must be a token of one line of ASCII characters')
    assert.not.match(stderr, 'k3y')
  }
})

test('a pipe that nobody reads, and a device, hold no run up', async () => {
  await using space = await workspace(oneModel)
  execFileSync('mkfifo', [space.path('pipe')])
  for (const file of ['pipe', '/dev/null']) {
    await space.write('eider.yml', `name: shop\nopenlineage: {file: ${file}}\n`)
    const { stderr } = await space.ok(['run', '--full-refresh'])
    assert.match(
      stderr,
      /lineage-not-sent.*"to":"file","lost":4,"events":4,"problem":"it is not a regular file"/,
    )
  }
})

test.run()
