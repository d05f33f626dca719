// What `npm pack` makes is what a user installs: it must start, and run a project, with what it carries itself.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from './support/workspace.ts'

const execute = promisify(execFile)

interface Description {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const description = JSON.parse(
  readFileSync(join(repository, 'package.json'), 'utf8'),
) as Description

interface Sbom {
  readonly components: readonly {
    readonly group?: string
    readonly name: string
    readonly purl: string
    readonly licenses: readonly object[]
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
  }[]
}

test('every program that a script starts comes with npm or with a package that is named', () => {
  const named = Object.keys({ ...description.dependencies, ...description.devDependencies })
  const programs = new Set(['npm', 'node', ...named.flatMap(programsOf)])
  for (const [name, script] of Object.entries(description.scripts))
    for (const command of script.split('&&'))
      assert.ok(programs.has(command.trim().split(' ')[0]!), `${name}: ${command}`)
})

test('a command line loads neither DuckDB nor the code of a run before a command asks for them', () => {
  const bundle = join(repository, 'dist', 'bundle')
  const found = new Set<string>()
  const visit = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    const text = readFileSync(join(bundle, file), 'utf8')
    for (const [, name] of text.matchAll(/^(?:const .* = )?require\("\.\/([^"]+)"\)/gm))
      visit(name!)
  }
  visit('main.cjs')
  for (const file of readdirSync(bundle)) if (file.startsWith('command-')) visit(file)
  const names = [...found].map((file) => file.replace(/-[\w-]{8}\.cjs$/, ''))
  assert.ok(names.includes('core'), names.join(', '))
  assert.not.ok(names.includes('engine') || names.includes('pipeline'), names.join(', '))
})

test('the bundle loads the packages that a user installs, and no others', () => {
  const bundle = join(repository, 'dist', 'bundle')
  const code = readdirSync(bundle)
    .filter((file) => file.endsWith('.cjs'))
    .map((file) => readFileSync(join(bundle, file), 'utf8'))
  const loads = /(?:\brequire\(|__require\(|createRequire\)\(.*\)\()"([^".][^"]*)"/g
  const loaded = new Set(
    code.flatMap((text) =>
      Array.from(text.matchAll(loads), ([, name]) => name!.replace(/\/package\.json$/, '')),
    ),
  )
  const packages = [...loaded].filter((name) => !isBuiltin(name))
  assert.equal(packages.toSorted(), Object.keys(description.dependencies).toSorted())
})

test('the list of bundled packages names exactly those in the bundle', () => {
  const bundle = join(repository, 'dist', 'bundle')
  const { components } = JSON.parse(readFileSync(join(bundle, 'sbom.cdx.json'), 'utf8')) as Sbom
  // The bundler writes above each module which file it was.
  const inside = readdirSync(bundle)
    .filter((file) => file.endsWith('.cjs'))
    .map((file) => readFileSync(join(bundle, file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^\/\/.*\bnode_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm)])
  const ofProgram = [...new Set(inside.map(([, name]) => name!))]
  assert.ok(ofProgram.length > 30, `${ofProgram.length} packages`)
  // The page is minified, without such comments: what it imports is in it, and nothing that those do not need.
  const ofPage = components
    .map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
    .filter((name) => !ofProgram.includes(name))
  const imported = importsOfPage()
  assert.equal(
    imported.filter((name) => !ofPage.includes(name)),
    [],
  )
  const needed = withDependencies(imported)
  assert.equal(
    ofPage.filter((name) => !needed.has(name)),
    [],
  )
  const names = [...ofProgram, ...ofPage]
  const installed = names.map((name) => {
    const { version } = packageOf(name)
    return { name, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` }
  })
  const listed = components.map(({ group, name, purl }) => ({
    name: group === undefined ? name : `${group}/${name}`,
    purl,
  }))
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  assert.equal(listed.toSorted(byName), installed.toSorted(byName))
  for (const { name, licenses, hashes } of components) {
    assert.is(licenses.length, 1, name)
    assert.match(hashes[0]!.content, /^[0-9a-f]{128}$/, name)
  }
})

test('the packed tool starts a project and runs it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-package-'))
  try {
    // Without scripts: they would build anew, under the feet of the tests that run beside this one.
    await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', dir], {
      cwd: repository,
    })
    const [packed] = readdirSync(dir)
    await execute('tar', ['-xzf', packed!], { cwd: dir })
    await installDependencies(join(dir, 'package'))
    const { scripts } = JSON.parse(
      readFileSync(join(dir, 'package', 'package.json'), 'utf8'),
    ) as Description
    // npm warns of scripts that an installation would run.
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      assert.not.ok(name in scripts, name)
    const binary = join(dir, 'package', 'bin', 'run.js')
    const started = await execute(process.execPath, [binary, 'init', 'demo'], { cwd: dir })
    assert.match(started.stdout, 'created demo: 9 files')
    const run = await execute(process.execPath, [binary, 'run', '--json'], {
      cwd: join(dir, 'demo'),
    })
    assert.match(run.stdout, '"event":"published"')
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

/** Only what a user has: a link for each of `dependencies`, none for `devDependencies`. */
async function installDependencies(directory: string): Promise<void> {
  for (const name of Object.keys(description.dependencies)) {
    const link = join(directory, 'node_modules', name)
    await mkdir(join(link, '..'), { recursive: true })
    await symlink(join(repository, 'node_modules', name), link)
  }
}

/** Packages that the page of the explorer takes values from; the JSX of each component is one of them. */
function importsOfPage(): readonly string[] {
  const page = join(repository, 'src', 'explorer', 'page')
  const code = readdirSync(page, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => readFileSync(join(page, file), 'utf8'))
    .join('\n')
  const imports =
    /^import\s+(?!type\b)[^'"]*?(?:from\s+)?'([^.'][^']*)'|\bimport\('([^.'][^']*)'\)/gm
  const found = Array.from(code.matchAll(imports), ([, named, loaded]) => (named ?? loaded)!)
  const packages = found.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0])
  return [...new Set(packages)]
}

function withDependencies(names: readonly string[]): ReadonlySet<string> {
  const all = new Set(names)
  for (const name of all)
    for (const needed of Object.keys(packageOf(name).dependencies ?? {})) all.add(needed)
  return all
}

interface Installed {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly bin?: string | Readonly<Record<string, string>>
}

const packageOf = (name: string) =>
  JSON.parse(
    readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8'),
  ) as Installed

function programsOf(name: string): readonly string[] {
  const { bin = {} } = packageOf(name)
  return typeof bin === 'string' ? [name.split('/').at(-1)!] : Object.keys(bin)
}

test.run()
