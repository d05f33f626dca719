// Runs and services at the same time in one project, and what a user can get wrong.

import { writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { workspace } from '../support/workspace.ts'

const numbers = (n: number) =>
  `-- @kind: table\n-- @expose i\nSELECT i::INTEGER AS i, ${n} AS version FROM range(${n * 1000}) AS r(i)`

test('X004 runs succeed while the service answers, and no request fails', async () => {
  await using space = await workspace({
    'eider.yml': 'name: together\n',
    'models/mart/numbers.sql': numbers(1),
  })
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  let stop = false
  let asked = 0
  const failures: string[] = []
  const client = async () => {
    while (!stop) {
      const answer = await fetch(`${service.url}/mart_numbers?$count=true&$top=3&$select=version`)
      const text = await answer.text()
      asked++
      const body = JSON.parse(text)
      const versions = new Set(body.value.map((row: { version: number }) => row.version))
      const whole =
        answer.status === 200 &&
        versions.size === 1 &&
        body['@odata.count'] === ([...versions][0]! as number) * 1000
      if (!whole) failures.push(text.slice(0, 200))
    }
  }
  const clients = [client(), client(), client(), client()]
  for (let n = 2; n <= 5; n++) {
    await space.write('models/mart/numbers.sql', numbers(n))
    await space.ok(['run'])
    const published = Date.now()
    while (
      (await (await fetch(`${service.url}/mart_numbers/$count`)).text()) !== String(n * 1000)
    ) {
      assert.ok(Date.now() - published < 5000, `run ${n} is not shown after five seconds`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  stop = true
  await Promise.all(clients)
  assert.equal(failures, [])
  assert.ok(asked > 20, `only ${asked} requests`)
})

test('two runs at once: both end well', async () => {
  await using space = await workspace({
    'eider.yml': 'name: two\n',
    'models/mart/numbers.sql': numbers(100),
  })
  const outcomes = await Promise.all([
    space.eider(['run']),
    space.eider(['run']),
    space.eider(['run']),
  ])
  for (const { exitCode, stderr } of outcomes) assert.is(exitCode, 0, stderr)
  assert.is(outcomes.filter(({ stdout }) => stdout.includes('built')).length, 1)
})

test('a service before the first run starts, and serves what is published later', async () => {
  await using space = await workspace({
    'eider.yml': 'name: early\n',
    'models/mart/numbers.sql': numbers(1),
  })
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  assert.is((await fetch(`${service.url}/mart_numbers`)).status, 404)
  await space.ok(['run'])
  await until(async () => (await fetch(`${service.url}/mart_numbers`)).status !== 404)
  assert.is((await fetch(`${service.url}/mart_numbers`)).status, 200)
})

test('a damaged warehouse is said, not repaired by deletion', async () => {
  await using space = await workspace({
    'eider.yml': 'name: damaged\n',
    'models/mart/numbers.sql': numbers(1),
  })
  await space.ok(['run'])
  await writeFile(space.path('.eider/warehouse.duckdb'), 'this is no database')
  const outcome = await space.ok(['run'], { exitCode: 3 })
  assert.match(outcome.stderr, /warehouse/)
  assert.not.match(outcome.stderr, /INTERNAL|^\s+at /m)
})

test('X001 X005 commands: help lists them, an unknown one is a usage error', async () => {
  await using space = await workspace({})
  const help = await space.ok(['--help'])
  for (const command of ['init', 'run', 'serve', 'collect', 'odata', 'pipeline'])
    assert.match(help.stdout, new RegExp(`\\b${command}\\b`))
  for (const args of [
    ['pipline', 'run'],
    ['rum'],
    ['run', '--wiat', '3'],
    ['run', '--json', '--wait', 'x'],
    ['init', 'x', '--template', 'nope'],
    ['run', 'too', 'many'],
  ]) {
    const outcome = await space.eider(args)
    assert.is(outcome.exitCode, 2, `${args.join(' ')}: ${outcome.stderr}`)
    assert.not.match(outcome.stderr, /^\s+at /m)
  }
  assert.match((await space.eider(['pipline', 'run'])).stderr, /pipeline/)
  assert.match((await space.eider(['rum'])).stderr, /eider run/)
  assert.match((await space.eider(['run', '--wiat', '3'])).stderr, /--wait/)
  assert.match((await space.ok(['--version'])).stdout, /\d+\.\d+\.\d+/)
})

test('no project here: says how to start one', async () => {
  await using space = await workspace({})
  const outcome = await space.ok(['run'], { exitCode: 2 })
  assert.match(outcome.stderr, /eider\.yml/)
  assert.match(outcome.stderr, /eider init/)
})

test('X002 every error of a project at once, each with its place', async () => {
  await using space = await workspace({
    'eider.yml': 'name: wrong\n',
    'models/a/kind.sql': '-- @kind: tabel\nSELECT 1 AS x',
    'models/a/cycle1.sql': 'SELECT * FROM a.cycle2',
    'models/a/cycle2.sql': 'SELECT * FROM a.cycle1',
    'models/a/column.sql': '-- @kind: table\nSELECT\n  amuont\nFROM a.source',
    'models/a/source.sql': 'SELECT 1 AS amount',
    'models/a/events.sql': '-- @kind: events\nSELECT 1',
    'models/A/SOURCE.sql': 'SELECT 2 AS x',
  })
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  for (const part of [
    /models\/a\/kind\.sql:1:11 .*tabel/,
    /"table"/,
    /a\.cycle1.*a\.cycle2/,
    /models\/a\/events\.sql:2:1/,
    /SOURCE\.sql/,
  ])
    assert.match(stderr, part)
  const json = await space.ok(['run', '--json'], { exitCode: 1 })
  const lines = json.stdout.trim().split('\n')
  const mistakes = lines
    .map((line) => JSON.parse(line) as { readonly event: string; readonly code?: string })
    .filter(({ event }) => event === 'diagnostic')
  assert.ok(mistakes.length >= 5, json.stdout)
  for (const { code } of mistakes) assert.type(code, 'string')
})

test.run()
