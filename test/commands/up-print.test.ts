// The units of `eider up --print`, read by those who would use them.

import { execFile, execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { mistakes, type Schema } from '../support/json-schema.ts'
import { type PythonTest, pythonTests, runPython } from '../support/python.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

/** What each of the three formats has a meaning for. */
const ODD = 'a "shop" 100% $HOME & co <1>'

async function oddProject(): Promise<Workspace & { readonly project: string }> {
  const space = await workspace({
    [`${ODD}/eider.yml`]: `name: shop & co\ncollect:\n  port: 80\ntargets:\n  prod:\n    database: ../elsewhere/w.duckdb\n`,
  })
  return { ...space, project: space.path(ODD) }
}

const printed = async (space: Workspace, ...args: readonly string[]) =>
  (await space.ok(['up', '--print', ...args, '--project', space.path(ODD)])).stdout

const commandOf = (project: string) => ['up', '--project', project, '--target', 'prod']

const hasSystemd = endsWell('systemd-analyze', ['--version'])
const isWanted = hasSystemd || process.env['EIDER_TEST_PARTS'] === 'required'
const systemdTest: PythonTest = isWanted
  ? (name, run) => test(name, run)
  : (name) => test.skip(name)

test('the unit of systemd names this program, this user and what is written', async () => {
  await using space = await oddProject()
  const text = await printed(space, 'systemd', '--target', 'prod', '--no-serve')
  const line = (name: string) => RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
  const path = space.project.replaceAll('%', '%%')
  const quoted = `"${path.replaceAll('"', '\\"')}"`
  assert.is(line('User'), userInfo().username)
  assert.is(line('WorkingDirectory'), path)
  assert.ok(line('ExecStart')!.startsWith(`${process.execPath} `))
  assert.ok(
    line('ExecStart')!.endsWith(
      `/bin/run.js up --project ${quoted.replaceAll('$', '$$$$')} --target prod --no-serve`,
    ),
  )
  assert.is(line('ReadWritePaths'), `${quoted} ${space.path('elsewhere')}`)
  assert.is(line('AmbientCapabilities'), 'CAP_NET_BIND_SERVICE')
})

systemdTest('systemd takes the unit', async () => {
  await using space = await oddProject()
  await space.write('eider-shop.service', await printed(space, 'systemd'))
  const { stderr } = await promisify(execFile)('systemd-analyze', [
    'verify',
    space.path('eider-shop.service'),
  ])
  assert.not.match(stderr, 'eider-shop.service')
})

pythonTests(['plistlib'])('a parser of property lists takes that of launchd', async () => {
  await using space = await oddProject()
  const text = await printed(space, 'launchd', '--target', 'prod')
  const script =
    'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.argv[1].encode())))'
  const list = JSON.parse(await runPython(script, [text])) as Record<string, unknown>
  const [node, program, ...words] = list['ProgramArguments'] as readonly string[]
  assert.is(node, process.execPath)
  assert.match(program!, /\/bin\/run\.js$/)
  assert.equal(words, commandOf(space.project))
  assert.is(list['Label'], 'eider.shop-co-prod')
  assert.is(list['WorkingDirectory'], space.project)
  assert.equal([list['RunAtLoad'], list['KeepAlive']], [true, true])
})

const text: Schema = { type: 'string' }
const texts: Schema = { type: 'array', items: text }

/** Of the Compose specification, for what is printed. */
const service: Schema = {
  type: 'object',
  required: ['image', 'command', 'volumes', 'healthcheck'],
  properties: {
    image: text,
    command: texts,
    working_dir: text,
    user: text,
    init: { type: 'boolean' },
    restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
    stop_grace_period: text,
    environment: { type: 'object', additionalProperties: text },
    ports: texts,
    volumes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'source', 'target'],
        properties: { type: { const: 'bind' }, source: text, target: text },
      },
    },
    healthcheck: {
      type: 'object',
      required: ['test'],
      properties: {
        test: texts,
        interval: text,
        timeout: text,
        start_period: text,
        retries: { type: 'integer' },
      },
    },
    read_only: { type: 'boolean' },
    tmpfs: texts,
    cap_drop: texts,
    security_opt: texts,
  },
}

interface Compose {
  readonly name: string
  readonly services: {
    readonly eider: {
      readonly command: readonly string[]
      readonly ports?: readonly string[]
      readonly environment?: Readonly<Record<string, string>>
      readonly volumes: readonly { readonly source: string; readonly target: string }[]
      readonly healthcheck: { readonly test: readonly string[] }
    }
  }
}

/** As Compose reads a value. */
const composed = (value: string) => value.replaceAll('$$', '$')

test('the file of Compose is as its specification says', async () => {
  await using space = await oddProject()
  const file = parse(await printed(space, 'compose', '--target', 'prod')) as Compose
  const { eider } = file.services
  assert.equal(mistakes(service, eider), [])
  assert.match(file.name, /^[a-z0-9][a-z0-9_-]*$/)
  assert.equal(eider.command.map(composed), ['eider', ...commandOf(space.project)])
  assert.equal(
    eider.volumes.map(({ source, target }) => [composed(source), composed(target)]),
    [space.project, space.path('elsewhere')].map((path) => [path, path]),
  )
  assert.equal(eider.healthcheck.test.slice(0, 5).join(' '), 'CMD eider status --live --quiet')
  assert.equal(eider.healthcheck.test.slice(5).map(composed), commandOf(space.project).slice(1))
  assert.equal(eider.ports, ['127.0.0.1:80:80', '127.0.0.1:8090:8090'])
  assert.is(eider.environment!['COLLECT_TOKEN'], '${COLLECT_TOKEN:?set COLLECT_TOKEN in .env}')

  const bare = parse(
    await printed(space, 'compose', '--no-collect', '--no-serve', '--allow-anonymous'),
  ) as Compose
  assert.equal([bare.services.eider.ports, bare.services.eider.environment], [undefined, undefined])
  assert.equal(mistakes(service, bare.services.eider), [])
})

function endsWell(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.run()
