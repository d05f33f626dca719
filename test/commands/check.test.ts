import { stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mistakes } from '../support/json-schema.ts'
import { sarifSchema } from '../support/sarif-schema.ts'
import { workspace } from '../support/workspace.ts'

const files = {
  'shop/eider.yml': 'name: s\nsources: {crm: {tables: {people: {file: gone.csv}}}}\n',
  'shop/models/a/ok.sql': '-- @expose x\nSELECT 1 AS x\n',
  'shop/models/a/typo, ä.sql': 'SELECT y\nFROM a.ok\n',
  'shop/models/a/reader.sql': 'SELECT * FROM crm.people\n',
  'shop/seeds/a/twice.csv': 'x,x\n1,2\n',
}

interface Sarif {
  readonly version: string
  readonly runs: readonly {
    readonly tool: {
      readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] }
    }
    readonly results: readonly {
      readonly ruleId: string
      readonly ruleIndex: number
      readonly level: string
      readonly message: { readonly text: string }
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string }
          readonly region?: Readonly<Record<string, number>>
        }
      }[]
    }[]
  }[]
}

test('every mistake is listed in each format, and nothing is written', async () => {
  await using space = await workspace(files)
  const check = (...args: readonly string[]) =>
    space.ok(['check', '--project', 'shop', ...args], { exitCode: 1 })

  const text = (await check()).stdout
  assert.match(text, /^eider\.yml:2:26 error invalid-source: /)
  assert.match(
    text,
    /\nmodels\/a\/typo, ä\.sql:1:8 error sql-binding: .*\n {2}1 \| SELECT y\n {4}\| {8}\^\n/,
  )
  assert.match(text, /\nseeds\/a\/twice\.csv:1:1 warning duplicate-seed-column: /)
  assert.match(text, /\nfailed: 4 models, 2 errors, 1 warning\n$/)

  const events = (await check('--json')).stdout.trim().split('\n')
  const parsed = events.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.equal(
    parsed.map(({ event, code }) => code ?? event),
    ['invalid-source', 'sql-binding', 'duplicate-seed-column', 'check-finished'],
  )
  assert.equal(parsed.at(-1), {
    event: 'check-finished',
    ok: false,
    models: 4,
    errors: 2,
    warnings: 1,
  })

  const github = (await check('--format', 'github')).stdout.split('\n')
  assert.match(
    github[1]!,
    /^::error file=shop\/models\/a\/typo%2C ä\.sql,line=1,endLine=1,col=8,endColumn=8,title=sql-binding::/,
  )
  assert.match(
    github[2]!,
    /^::warning file=shop\/seeds\/a\/twice\.csv,title=duplicate-seed-column::.*%0Ahint: /,
  )

  const log = JSON.parse((await check('--format', 'sarif')).stdout) as Sarif
  assert.equal(mistakes(sarifSchema, log), [])
  const [run] = log.runs
  assert.is(run?.tool.driver.name, 'eider')
  assert.equal(
    run?.results.map(({ level }) => level),
    ['error', 'error', 'warning'],
  )
  for (const { ruleId, ruleIndex } of run?.results ?? [])
    assert.is(run?.tool.driver.rules[ruleIndex]?.id, ruleId)
  assert.equal(run?.results[1]?.locations[0]?.physicalLocation, {
    artifactLocation: { uri: 'shop/models/a/typo,%20%C3%A4.sql', uriBaseId: '%SRCROOT%' },
    region: { startLine: 1, startColumn: 8, endLine: 1, endColumn: 9 },
  })
  assert.is(run?.results[2]?.locations[0]?.physicalLocation.region, undefined)

  for (const path of ['shop/.eider', 'shop/target'])
    assert.not.ok(await stat(space.path(path)).then(Boolean, () => false), path)
})

test('a check of some models tells what concerns them; mistakes of eider.yml come in the format asked for', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['check', '--project', 'shop', 'a.ok', 'a.twice'])
  assert.match(stdout, /duplicate-seed-column[\s\S]*\nok: 2 models, 0 errors, 1 warning\n$/)
  const failed = await space.ok(['check', '--project', 'shop', 'a.reader'], { exitCode: 1 })
  assert.match(
    failed.stdout,
    /^eider\.yml:2:26 error invalid-source: [\s\S]*\nfailed: 1 model, 1 error, 0 warnings\n$/,
  )
  await space.ok(['check', '--project', 'shop', 'state:modified'], { exitCode: 2 })
  await space.write('shop/eider.yml', 'name: s\nnothing: 1\n')
  const broken = await space.ok(['check', '--project', 'shop', '--format', 'github'], {
    exitCode: 1,
  })
  assert.match(broken.stdout, /^::error file=shop\/eider\.yml,line=2,.*title=config-unknown-key::/)
})

test('paths begin at the root of the repository, wherever the check is started', async () => {
  await using space = await workspace({ ...files, 'repo/shop/eider.yml': 'name: s\n' })
  await space.write('repo/shop/models/a/typo.sql', 'SELECT y\n')
  const fileIn = async (cwd: string, env = {}, ...args: readonly string[]) => {
    const options = { cwd: space.path(cwd), env, exitCode: 1 }
    const { stdout } = await space.ok(['check', '--format', 'github', ...args], options)
    return /^::error file=([^,]+)/.exec(stdout)?.[1]
  }
  const outside = ['--project', space.path('repo/shop')]
  assert.is(await fileIn('repo/shop/models'), 'models/a/typo.sql')
  assert.is(
    await fileIn('shop', { GITHUB_WORKSPACE: space.dir }, ...outside),
    'repo/shop/models/a/typo.sql',
  )
  await space.write('repo/.git/HEAD', '')
  for (const cwd of ['repo/shop', 'repo/shop/models/a'])
    assert.is(await fileIn(cwd), 'shop/models/a/typo.sql')
  assert.is(await fileIn('shop', {}, ...outside), 'shop/models/a/typo.sql')
  assert.is(
    await fileIn('shop', { GITHUB_WORKSPACE: space.dir }, ...outside),
    'shop/models/a/typo.sql',
  )
  await space.write('repo/shop/eider.yml', 'name: s\nnothing: 1\n')
  assert.is(await fileIn('repo/shop/models'), 'shop/eider.yml')
})

test.run()
