// Puts what tests share into chunks, in the place of the files that tsc has made: Node takes 2 ms to find and load each of
// several hundred modules, in each process of tests and in each process that they start to kill it. The files keep their
// names. What is in a chunk finds its neighbours as before, by the place of the file that it is made of.

import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { dirname } from 'node:path/posix'
import { build } from 'rolldown'
import { grammarPlugin } from './rolldown.grammar.js'

const repository = import.meta.dirname

/** What tests start as processes. Left as it is: `mortal-run-child`, which shares the driver with `mortal.ts`. */
const isChild = (file) =>
  (file.endsWith('-child.ts') && !file.includes('mortal-run') && !file.startsWith('bench/')) ||
  file === 'support/many-models.ts'

/** Those of the program. One that tests alone use finds files of its own. */
const packages =
  /^(?:@duckdb\/node-api|@oclif\/core|chokidar|croner|lru-cache|ohm-js|vscode-languageserver(?:-\w+)?|yaml)(?:\/|$)/

const isOutside = (name, importer) =>
  importer !== undefined &&
  !/^[./\0]/.test(name) &&
  !importer.includes('node_modules') &&
  !name.startsWith('@oxc-project/') &&
  !packages.test(name)

const files = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' })
const entries = files.filter((file) => file.endsWith('.test.ts') || isChild(file))

const bundle = (files, output) =>
  build({
    cwd: repository,
    logLevel: 'warn',
    input: Object.fromEntries(
      files.map((file) => [`test/${file.replace(/\.ts$/, '')}`, `test/${file}`]),
    ),
    platform: 'node',
    transform: { target: 'es2022' },
    checks: { ineffectiveDynamicImport: false },
    external: (name, importer) => name === '@duckdb/node-bindings' || isOutside(name, importer),
    plugins: [grammarPlugin, { name: 'places', transform: markPlace, renderChunk: findPlaces }],
    output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', ...output },
  })

await bundle(entries, { chunkFileNames: 'test/chunks/[name]-[hash].js' })
// One file: what replaces functions of Node has to run before all else, and chunks run before the file that imports them.
await bundle(['simulation/simulate.ts'], { codeSplitting: false })

function markPlace(code, id) {
  if (!id.startsWith(repository) || id.includes('node_modules')) return null
  const file = relative(repository, id).replace(/\.ts$/, '.js')
  return code.includes('import.meta.url')
    ? code.replaceAll('import.meta.url', `__placeOf__(${JSON.stringify(file)})`)
    : null
}

function findPlaces(code, { fileName }) {
  return code.replaceAll(/__placeOf__\("([^"]+)"\)/g, (_, file) => {
    if (file === fileName) return 'import.meta.url'
    const from = dirname(fileName)
    return `new URL(${JSON.stringify(relative(from, file))}, import.meta.url).href`
  })
}
