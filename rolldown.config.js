// Puts the program and its packages into the few files of dist/bundle that bin/run.js starts. Node takes some 100 ms to
// find and load several hundred files, a fifth of what a run with nothing to do takes.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'rolldown'

export default defineConfig({
  input: [
    'src/cli/main.ts',
    'src/cli/command-not-found.ts',
    'src/commands/table.ts',
    'src/commands/collect/compile-child.ts',
  ],
  platform: 'node',
  transform: { target: 'node20' },
  external: [
    '@duckdb/node-bindings', // finds the library of the engine beside itself
    'typescript', // oclif asks for it in a checkout of its own alone
  ],
  output: {
    dir: 'dist/bundle', // without directories inside: code finds its neighbours by import.meta.url
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    // Otherwise most of their small modules are files of their own, each of which Node has to find and read.
    // What the daemon shares with a run is in `core`: a group takes what it imports, and a run imports the engine.
    codeSplitting: {
      groups: [
        { name: 'core', test: /\/src\/(core\/|files\/|buffer\/(segment|claim-source)\.)/ },
        { name: 'engine', test: /\/src\/(duckdb|store)\/|\/@duckdb\/node-api\// },
        { name: 'pipeline', test: /\/src\/pipeline\// },
      ],
    },
  },
  plugins: [
    { name: 'unused', resolveId: unusedOf, load: loadUnused },
    { name: 'order', transform: orderAscii },
    { name: 'licenses', generateBundle: emitLicenses },
  ],
})

const UNUSED = '\0unused:'

/** oclif looks with these for commands and plugins in files; the program names its commands and has no plugins. */
function unusedOf(id) {
  return ['minimatch', 'tinyglobby'].includes(id) ? UNUSED + id : null
}

function loadUnused(id) {
  return id.startsWith(UNUSED) ? 'module.exports = {}' : null
}

/** oclif sorts the names of commands, which are ASCII; the first comparison by locale of a process takes 7 ms. */
function orderAscii(code, id) {
  if (!id.endsWith('/@oclif/core/lib/config/plugin.js')) return null
  const byLocale = 'a.id.localeCompare(b.id)'
  if (!code.includes(byLocale)) throw new Error(`${id} has no ${byLocale} any more`)
  return code.replace(byLocale, '(a.id < b.id ? -1 : 1)')
}

/** What the authors of the packages ask for: that their names and terms go with every copy. */
function emitLicenses() {
  const dirs = Array.from(this.getModuleIds(), packageOf).filter((dir) => dir !== undefined)
  const texts = [...new Set(dirs)].toSorted().map(licenseOf)
  this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n---\n\n') })
}

function packageOf(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
}

function licenseOf(dir) {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  const file = readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(dir, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
}
