// The steps of the Dockerfile, in a directory in place of a container: what is copied is what npm packs, npm installs it
// from a registry of this machine, and the command and the health check are started as they stand there.

import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { instructionsOf } from '../support/dockerfile.ts'
import { packageRegistry } from '../support/package-registry.ts'
import { until } from '../support/until.ts'
import { lives } from '../support/up-process.ts'
import { repository } from '../support/workspace.ts'

const execute = promisify(execFile)
const instructions = instructionsOf(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
const all = (name: string) =>
  instructions.filter((one) => one.name === name).map(({ text }) => text)
const listOf = (text: string) => JSON.parse(text.slice(text.indexOf('['))) as readonly string[]

test('nobody in the image is root, and only the packed program is in it', () => {
  const order = instructions.map(({ name }) => name)
  assert.is(order[0], 'FROM')
  assert.match(all('FROM')[0]!, /^node:2[24]-slim$/)
  assert.equal(all('COPY'), ['eider-*.tgz /tmp/'])
  assert.equal(all('ADD'), [])
  assert.equal(all('USER'), ['eider'])
  assert.ok(order.indexOf('USER') > order.lastIndexOf('RUN'))
  assert.equal(all('VOLUME'), ['/project'])
  assert.equal(listOf(all('CMD')[0]!), ['eider', 'up'])
  assert.not.match(all('RUN').join('\n'), /curl|wget|https?:/)
  const ignored = readFileSync(join(repository, '.dockerignore'), 'utf8')
  assert.is(ignored, '*\n!eider-*.tgz\n')
})

test('its steps make a program that goes up, is healthy, and stops', async () => {
  const root = await mkdtemp(join(tmpdir(), 'eider-image-'))
  try {
    await using registry = await packageRegistry(root)
    const inside = (path: string) => join(root, 'image', path)
    for (const path of ['tmp', 'stubs', 'usr/local']) await mkdir(inside(path), { recursive: true })
    // What needs root, or would make a user on this machine.
    for (const name of ['useradd', 'chown']) {
      const script = `#!/bin/sh\necho ${name} "$@" >> ${inside('done')}\n`
      await writeFile(inside(`stubs/${name}`), script)
      await chmod(inside(`stubs/${name}`), 0o755)
    }
    await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', inside('tmp')], {
      cwd: repository,
    })
    const moved = (text: string) => text.replaceAll(/(?<= )\/(tmp|project)\b/g, inside('$1'))
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_|COLLECT|ODATA|EIDER)/i.test(name),
    )
    const declared = all('ENV').flatMap((line) =>
      line.split(' ').map((pair) => pair.split('=') as [string, string]),
    )
    const env = {
      ...Object.fromEntries(inherited),
      PATH: [inside('stubs'), inside('usr/local/bin'), process.env['PATH']].join(':'),
      npm_config_prefix: inside('usr/local'),
      npm_config_cache: inside('cache'),
      npm_config_registry: registry.url,
      npm_config_update_notifier: 'false',
      ...Object.fromEntries(declared),
      EIDER_PROJECT: inside('project'),
    }
    for (const line of all('RUN')) await execute('sh', ['-ec', moved(line)], { env, cwd: root })
    assert.equal(readdirSync(inside('tmp')), [])
    assert.match(readFileSync(inside('done'), 'utf8'), /^useradd --uid 10001 .*eider\nchown eider:/)
    assert.ok(existsSync(inside('project')))

    const project = inside('project')
    const [eider, ...up] = listOf(all('CMD')[0]!)
    const [health, ...check] = listOf(all('HEALTHCHECK')[0]!)
    const healthOf = (more: Readonly<Record<string, string>>) =>
      execute(health!, check, { env: { ...env, ...more }, cwd: project }).then(
        () => 0,
        (error: { readonly code: number }) => error.code,
      )
    await execute(eider!, ['init', project], { env, cwd: root })
    // All addresses are opened with a token only.
    const open = { COLLECT_PORT: '0', COLLECT_ADMIN_PORT: '0', ODATA_PORT: '0' }
    const refused = await execute(eider!, up, { env: { ...env, ...open }, cwd: project }).then(
      () => 'started',
      ({ stderr }: { readonly stderr: string }) => stderr,
    )
    assert.match(refused, 'token')
    assert.is(await healthOf(open), 1)

    const local = { ...open, COLLECT_HOST: '127.0.0.1', ODATA_HOST: '127.0.0.1' }
    const child = spawn(eider!, up, {
      env: { ...env, ...local },
      cwd: project,
      stdio: 'ignore',
    })
    try {
      await until(
        () => healthOf(local),
        (code) => code === 0,
      )
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      assert.is(await ended, 0)
      assert.is(await healthOf(local), 1)
    } finally {
      if (lives(child.pid!)) child.kill('SIGKILL')
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})

test.run()
