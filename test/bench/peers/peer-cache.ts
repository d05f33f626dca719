// The peers that eider is compared with: pinned versions from package registries, in ~/.cache/eider/peers or where
// EIDER_PEERS says. Installed once.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const dir = process.env['EIDER_PEERS'] || join(homedir(), '.cache', 'eider', 'peers')

/** dbt-core 1.12 downloads a binary while it installs; 1.11 comes from the registry as a whole. */
const PACKAGES = ['datasette==0.65.5', 'dbt-core==1.11.16', 'dbt-duckdb==1.11.1', 'duckdb==1.5.5']

/** The path of a program of the Python peers. Throws with what the installation says when it cannot be made. */
export function pythonProgram(name: string): string {
  const venv = join(dir, 'python')
  const mark = join(venv, 'installed')
  if (!existsSync(mark)) {
    rmSync(venv, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'pipe' })
    execFileSync(join(venv, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES], { stdio: 'pipe' })
    writeFileSync(mark, `${PACKAGES.join('\n')}\n`)
  }
  return join(venv, 'bin', name)
}

export interface RedisPrograms {
  readonly server: string
  readonly benchmark: string
  readonly env: NodeJS.ProcessEnv
}

/** Debian's, unpacked from its packages, which leaves the machine as it is. */
export function redisPrograms(): RedisPrograms {
  const root = join(dir, 'redis')
  const mark = join(root, 'installed')
  if (!existsSync(mark)) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { recursive: true })
    const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1']
    execFileSync('apt-get', ['download', ...packages], { cwd: root, stdio: 'pipe' })
    const unpack = 'for deb in *.deb; do dpkg-deb -x "$deb" . || exit; done'
    execFileSync('sh', ['-c', unpack], { cwd: root, stdio: 'pipe' })
    writeFileSync(mark, `${packages.join('\n')}\n`)
  }
  const bin = join(root, 'usr', 'bin')
  const libraries = execFileSync('sh', ['-c', 'ls -d "$0"/usr/lib/*-linux-gnu', root], {
    encoding: 'utf8',
  })
  return {
    server: join(bin, 'redis-server'),
    benchmark: join(bin, 'redis-benchmark'),
    env: { ...process.env, LD_LIBRARY_PATH: libraries.trim() },
  }
}
