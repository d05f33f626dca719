// A MariaDB of a file of tests, with the programs of the system. A test is skipped where they or the extension are missing,
// or fails where EIDER_TEST_PARTS=required. They are in the packages mariadb-server-core and mariadb-client-core of Debian.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import { withExtensions } from './extension-cache.ts'
import { freePort } from './free-port.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const PROGRAMS = ['mariadbd', 'mariadb-install-db', 'mariadb'] as const
const isRequired = process.env['EIDER_TEST_PARTS'] === 'required'

interface MariaDb extends AsyncDisposable {
  readonly port: number
  /** Statements of the administrator. */
  run(statements: string): void
  /** SIGSTOP and SIGCONT: it holds its connections and says nothing. */
  signal(signal: NodeJS.Signals): void
}

const find = (program: string): string | null => {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin']
  const path = directories.map((directory) => join(directory, program)).find(existsSync)
  return path ?? null
}

export function mariaDbTest(name: string, run: () => Promise<void>): void {
  const missing = PROGRAMS.filter((program) => find(program) === null)
  if (missing.length === 0) withExtensions(test, ['mysql_scanner'], name, run)
  else if (isRequired)
    test(name, () =>
      Promise.reject(
        new Error(`${missing.join(', ')}: install mariadb-server-core and mariadb-client-core`),
      ),
    )
  else test.skip(name)
}

export async function startMariaDb(): Promise<MariaDb> {
  const directory = await temporaryDirectory()
  const [data, socket] = [join(directory.path, 'data'), join(directory.path, 'socket')]
  mkdirSync(data)
  // Else the server refuses to be that of root. The user `mysql` comes with a package that starts a server of its own.
  const isRoot = process.getuid?.() === 0
  const common = ['--no-defaults', `--datadir=${data}`, ...(isRoot ? ['--user=root'] : [])]
  execFileSync(
    find('mariadb-install-db')!,
    [...common, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { stdio: 'ignore' },
  )
  const port = await freePort()
  const own = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${socket}`, '--skip-log-bin']
  const small = ['--innodb-buffer-pool-size=32M', '--innodb-flush-log-at-trx-commit=0']
  const child = spawn(find('mariadbd')!, [...common, ...own, ...small], { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  const run = (statements: string) =>
    void execFileSync(
      find('mariadb')!,
      ['--no-defaults', '--default-character-set=utf8mb4', '-uroot', `--socket=${socket}`],
      { input: statements, stdio: ['pipe', 'ignore', 'pipe'] },
    )
  await until(child, () => run('SELECT 1'))
  return {
    port,
    run,
    signal: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      await directory[Symbol.asyncDispose]()
    },
  }
}

async function until(child: ChildProcess, works: () => void): Promise<void> {
  const end = Date.now() + 60_000
  for (;;)
    try {
      return works()
    } catch (error) {
      if (child.exitCode !== null || Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
}
