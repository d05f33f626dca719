// The tutorial of docs/scale-out.md, as written there: the services of its compose file, started by their commands and
// environments, and its blocks in a shell, one after the other. Only the ports differ, so that it runs anywhere.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { rightsTest } from '../support/lake/lake-test.ts'
import { places } from '../support/lake/parts.ts'
import { asSuperuser } from '../support/lake/postgres-client.ts'
import { startServers } from '../support/lake/servers.ts'
import { until } from '../support/until.ts'
import { repository, workspace } from '../support/workspace.ts'

const SECONDS = 200

interface Compose {
  readonly services: {
    readonly catalog: { readonly environment: Readonly<Record<string, string>> }
    readonly store: { readonly command: readonly string[] }
  }
}

rightsTest('the tutorial from one machine to three', async () => {
  const page = await readFile(join(repository, 'docs', 'scale-out.md'), 'utf8')
  const blocks = [...page.matchAll(/<!-- tutorial:(\w+) -->\s+```\w+\n([^]*?)```/g)]
  const [compose, ...steps] = blocks
  assert.ok(compose)
  assert.is(compose[1], 'compose')
  assert.equal(
    steps.map(([, name]) => name),
    ['project', 'run', 'collect', 'again', 'serve', 'maintain'],
  )
  const { services } = parse(compose[2]!) as Compose
  await using space = await workspace({
    'bin/eider': `#!/bin/sh\nexec "${process.execPath}" "${join(repository, 'bin/run.js')}" "$@"\n`,
  })
  await chmod(space.path('bin/eider'), 0o755)
  const ports = { ':7070': await freePort(), ':8080': await freePort(), ':8090': await freePort() }
  const admin = await freePort()

  await using servers = await startServers()
  const { POSTGRES_DB: database, POSTGRES_PASSWORD: password } = services.catalog.environment
  await asSuperuser(servers, 'postgres', `CREATE DATABASE ${database}`)
  await asSuperuser(servers, 'postgres', `ALTER ROLE postgres PASSWORD '${password}'`)
  const withPorts = (text: string) =>
    Object.entries({ ...ports, ':5432': servers.postgresPort }).reduce(
      (all, [written, port]) => all.replaceAll(written, `:${port}`),
      text,
    )
  await mkdir(space.path('data', 'shop-lake'), { recursive: true })
  const store = spawn(
    places.versitygw,
    services.store.command.map((word) => (word === '/data' ? space.path('data') : withPorts(word))),
    { stdio: 'ignore' },
  )
  try {
    await until(() => fetch(`http://127.0.0.1:${ports[':7070']}`).catch(() => null))
    const output = await inShell(withPorts(steps.map(([, , text]) => text).join('\n')), space.dir, {
      PATH: space.path('bin') + delimiter + process.env['PATH'],
      EIDER_EXTENSIONS: places.extensions,
      COLLECT_PORT: String(ports[':8080']),
      COLLECT_ADMIN_PORT: String(admin),
      ODATA_PORT: String(ports[':8090']),
    })
    assert.match(output, /\{"accepted":16\}/)
    const answer = /\{"@odata\.context".*?\]\}/.exec(output)?.[0] ?? '{}'
    assert.equal((JSON.parse(answer) as { value: unknown }).value, await promisedRows(), output)
    assert.not.match(output, /change-me/)
  } finally {
    await end(store)
  }
})

/** In a process group of its own, so that what it leaves in the background can be ended with it. */
async function inShell(script: string, cwd: string, env: Record<string, string>): Promise<string> {
  const shell = spawn('bash', ['-e', '-c', script], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let output = ''
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const timer = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), SECONDS * 1000)
  try {
    const [exitCode] = (await once(shell, 'exit')) as [number | null]
    assert.is(exitCode, 0, output)
    return output
  } finally {
    clearTimeout(timer)
    process.kill(-shell.pid!, 'SIGTERM')
    await once(shell.stdout, 'close').catch(() => {})
  }
}

/** Those of the README, whose journey has the same events. */
async function promisedRows(): Promise<unknown> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8')
  return (JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '{}') as { value: unknown })
    .value
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test.run()
