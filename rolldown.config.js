// Puts the program and its packages into the few files of dist/bundle that bin/run.js starts. Node takes some 100 ms to
// find and load several hundred files, a fifth of what a run with nothing to do takes.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { defineConfig } from 'rolldown'
import { commandEntries, helpOf, manifestOf } from './rolldown.commands.js'
import { grammarPlugin } from './rolldown.grammar.js'
import { docs, page, pageModules } from './rolldown.page.js'

const repository = import.meta.dirname
const { packages } = readJson(join(repository, 'package-lock.json'))

/** What oclif asks for in a checkout of its own, and in packages without a manifest or with plugins. */
const unused = ['lilconfig', 'minimatch', 'tinyglobby', 'typescript']

const program = {
  logLevel: 'warn',
  input: {
    main: 'src/cli/main.ts',
    'command-not-found': 'src/cli/command-not-found.ts',
    help: 'src/cli/help.ts',
    'compile-child': 'src/wiring/collect/compile-child.ts',
    'batch-reader-thread': 'src/collect/read/batch-reader-thread.ts',
    'index-rows-thread': 'src/odata/engine/rows/index-rows-thread.ts',
    ...commandEntries,
  },
  platform: 'node',
  transform: { target: 'node20' },
  // What one command loads when it needs it, another one always needs.
  checks: { ineffectiveDynamicImport: false },
  external: ['@duckdb/node-bindings'], // finds the library of the engine beside itself
  output: {
    dir: 'dist/bundle', // without directories inside: code finds its neighbours by import.meta.url
    cleanDir: true,
    // CommonJS starts faster: ESM has another loader to set up, and loads more of Node with each of its modules.
    format: 'cjs',
    exports: 'named',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // Otherwise most of their small modules are files of their own, each of which Node has to find and read.
    // What the daemon shares with a run is in `core`: a group takes what it imports, and a run imports the engine.
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /\/src\/(core\/|files\/|access\/reader\.|buffer\/(segment|claim-source)\.)/,
          priority: 2,
        },
        {
          name: 'compiler',
          test: /\/src\/compiler\/(select|sql\/|annotations\/|bind\/columns|hints\/(other-tools|statements))/,
        },
        // What a run needs to find that there is nothing to do, and what others need then, which have no engine.
        {
          name: 'idle',
          test: /\/src\/pipeline\/(idle|open-ahead|prepared-run|borrow\/sample|erase\/record)\.|\/src\/compiler\/(compile-once|mistakes|cache\/)|\/src\/store\/traits-of\.|\/src\/wiring\/(unchanged|run-options)\.|\/src\/buffer\/waiting\./,
          priority: 1,
        },
        { name: 'engine', test: /\/src\/(duckdb|store)\/|\/@duckdb\/node-api\// },
        { name: 'pipeline', test: /\/src\/pipeline\// },
        // What commands share, and read of a project before they do anything.
        { name: 'cli', test: /\/src\/cli\/(base-command|shared-flags|table|run-lines)\./ },
        { name: 'project', test: /\/src\/project\/(load|files)\./ },
      ],
    },
  },
  plugins: [
    grammarPlugin,
    { name: 'unused', resolveId: emptyIfUnused, load: loadEmpty },
    { name: 'manifest', generateBundle: emitManifest },
    { name: 'stamp', generateBundle: emitStamp },
    { name: 'papers', generateBundle: emitPapers },
  ],
}

/** One after the other: the papers of the program name the packages of the page too. */
export default defineConfig([page, docs, program])

function emptyIfUnused(name) {
  return unused.includes(name) ? '\0empty' : null
}

function loadEmpty(id) {
  return id === '\0empty' ? 'export {}' : null
}

/** Whether it is the same build tells a file: to ask for the times of all files would take longer than to read it. */
function emitStamp(_options, bundle) {
  const hash = createHash('sha256')
  const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk')
  for (const { fileName } of chunks.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1)))
    hash.update(fileName).update(bundle[fileName].code)
  this.emitFile({ type: 'asset', fileName: 'build-stamp', source: hash.digest('hex') })
}

async function emitManifest() {
  const description = readJson(join(repository, 'package.json'))
  const files = {
    'oclif.manifest.json': await manifestOf(description),
    'help.json': await helpOf(description),
  }
  for (const [fileName, content] of Object.entries(files))
    this.emitFile({ type: 'asset', fileName, source: JSON.stringify(content) })
}

/** What goes with both: the licences of the packages in them, and a list of them that scanners read (CycloneDX). */
function emitPapers(_options, bundle) {
  const files = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}))
  const dirs = [...files, ...pageModules].map(packageOf).filter((dir) => dir !== undefined)
  const inside = [...new Set(dirs)].map(described).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const licenses = inside.map(licenseOf).join('\n---\n\n')
  this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: licenses })
  const sbom = JSON.stringify(sbomOf(inside), null, 2) + '\n'
  this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: sbom })
}

function packageOf(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
}

function described(dir) {
  return { dir, ...readJson(join(dir, 'package.json')) }
}

/** What the authors of the packages ask for: that their names and terms go with every copy. */
function licenseOf({ dir, name, version, license }) {
  const file = readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(dir, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
}

function sbomOf(inside) {
  const own = component(readJson(join(repository, 'package.json')))
  const components = inside.map((part) => ({
    type: 'library',
    ...component(part),
    ...hashesOf(part),
  }))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...own } },
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: components.map((part) => part['bom-ref']) }],
  }
}

function component({ name, version, license }) {
  const [scope, base] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const namespace = scope === undefined ? '' : `${encodeURIComponent(scope)}/`
  const purl = `pkg:npm/${namespace}${base}@${version}`
  const isExpression = / (?:AND|OR|WITH) /.test(license)
  return {
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name: base,
    version,
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
    purl,
  }
}

/** Of the archive in the registry, as the lock file has it. */
function hashesOf({ dir }) {
  const key = relative(repository, dir).split(sep).join('/')
  const [, algorithm, digest] = /^sha(\d+)-(.*)$/.exec(packages[key]?.integrity ?? '') ?? []
  if (digest === undefined) return {}
  const content = Buffer.from(digest, 'base64').toString('hex')
  return { hashes: [{ alg: `SHA-${algorithm}`, content }] }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
