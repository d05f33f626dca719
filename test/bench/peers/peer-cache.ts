// The peers that eider is compared with: pinned versions from package registries, in ~/.cache/eider/peers or where
// EIDER_PEERS says. Each is installed once, when it is first asked for.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = process.env['EIDER_PEERS'] || join(homedir(), '.cache', 'eider', 'peers')

const DUCKDB = 'duckdb==1.5.5'

/** dbt-core 1.12 downloads a binary while it installs; 1.11 comes from the registry as a whole. */
const pythonPackages = {
  datasette: ['datasette==0.65.5'],
  dbt: ['dbt-core==1.11.16', 'dbt-duckdb==1.11.1', DUCKDB],
  roapi: ['roapi==0.12.7'],
  sqlmesh: ['sqlmesh==0.236.4', DUCKDB],
} as const

/** Express is the server that CAP asks for. */
const nodePackages = {
  cap: ['@sap/cds@9.9.3', '@cap-js/sqlite@2.4.2', 'express@5.3.0'],
} as const

const goModules = {
  nats: ['github.com/nats-io/nats-server/v2@v2.15.2', 'github.com/nats-io/natscli/nats@v0.5.1'],
} as const

const javaArtifacts = {
  flume: [
    'org.apache.flume:flume-ng-node:1.9.0',
    'org.apache.flume.flume-ng-channels:flume-file-channel:1.9.0',
  ],
} as const

/** The path of a program of a Python peer. Throws with what the installation says when it cannot be made. */
export function pythonProgram(peer: keyof typeof pythonPackages, name: string): string {
  const packages = pythonPackages[peer]
  const root = installed(peer, packages, (dir) => {
    execFileSync('python3', ['-m', 'venv', dir], { stdio: 'pipe' })
    execFileSync(join(dir, 'bin', 'pip'), ['install', '--quiet', ...packages], { stdio: 'pipe' })
  })
  return join(root, 'bin', name)
}

/** The directory with the `node_modules` of a peer. */
export function nodeModules(peer: keyof typeof nodePackages): string {
  const packages = nodePackages[peer]
  return installed(peer, packages, (dir) => {
    writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
    const options = ['--no-audit', '--no-fund', '--save-exact']
    execFileSync('npm', ['install', ...options, ...packages], { cwd: dir, stdio: 'pipe' })
  })
}

export function goProgram(peer: keyof typeof goModules, name: string): string {
  const modules = goModules[peer]
  const root = installed(peer, modules, (dir) => {
    const env = { ...process.env, GOBIN: dir }
    for (const one of modules) execFileSync('go', ['install', one], { env, stdio: 'pipe' })
  })
  return join(root, name)
}

/** What this machine lacks for a peer in Java. */
export const javaMissing = (): readonly string[] =>
  ['java', 'mvn']
    .filter((program) => spawnSync(program, ['-version']).error !== undefined)
    .map((program) => `there is no ${program}`)

/** The directory with the jars of a peer and of what they need. */
export function javaLibraries(peer: keyof typeof javaArtifacts): string {
  const artifacts = javaArtifacts[peer]
  return installed(peer, artifacts, (dir) => {
    const needed = artifacts.map((artifact) => {
      const [group, name, version] = artifact.split(':')
      return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`
    })
    const project = `<modelVersion>4.0.0</modelVersion><groupId>peer</groupId><artifactId>${peer}</artifactId><version>1</version>`
    writeFileSync(
      join(dir, 'pom.xml'),
      `<project xmlns="http://maven.apache.org/POM/4.0.0">${project}<dependencies>${needed.join('')}</dependencies></project>\n`,
    )
    const options = ['-DincludeScope=runtime', `-DoutputDirectory=${dir}`]
    execFileSync('mvn', ['-q', '-B', COPY_DEPENDENCIES, ...options], { cwd: dir, stdio: 'pipe' })
  })
}

const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

interface RedisPrograms {
  readonly server: string
  readonly benchmark: string
  readonly env: NodeJS.ProcessEnv
}

/** Debian's, unpacked from its packages, which leaves the machine as it is. */
export function redisPrograms(): RedisPrograms {
  const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1']
  const root = installed('redis', packages, (dir) => {
    execFileSync('apt-get', ['download', ...packages], { cwd: dir, stdio: 'pipe' })
    const unpack = 'for deb in *.deb; do dpkg-deb -x "$deb" . || exit; done'
    execFileSync('sh', ['-c', unpack], { cwd: dir, stdio: 'pipe' })
  })
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

/** A mark is written last, so that half an installation, or one of other versions, is made again. */
function installed(
  peer: string,
  packages: readonly string[],
  install: (dir: string) => void,
): string {
  const dir = join(cache, peer)
  const mark = join(dir, 'installed')
  const content = `${packages.join('\n')}\n`
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== content) {
    const startedAt = performance.now()
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    install(dir)
    writeFileSync(mark, content)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    process.stdout.write(`${peer} was installed in ${seconds} s\n`)
  }
  return dir
}
