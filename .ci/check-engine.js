// Whether another version of DuckDB is what this one is, where eider relies on more than its SQL: memory layout, parse trees,
// its own tables, error messages, files. Ends with 1 when something differs.
//
//   node .ci/check-engine.js VERSION [WORD]...    of @duckdb/node-api, such as 1.5.5-r.5 or latest; parts with a word
//
// The tree is copied into a temporary directory with that version instead of its own, built there, and the tests of
// each part run there. What they print stays in that directory when something differs.

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const repository = join(import.meta.dirname, '..')

/** What is read of DuckDB, and the tests that notice when it differs. */
const parts = [
  {
    part: 'values in memory',
    reads: 'vectors of a result, memory figures (src/duckdb/vectors)',
    tests: [
      'duckdb/vectors/',
      'odata/answer/long-values',
      'odata/answer/csv-parts',
      'odata/answer/arrow',
    ],
  },
  {
    part: 'parse trees',
    reads: 'json_serialize_sql() (src/duckdb/syntax.ts, src/compiler/sql, src/compiler/lineage)',
    tests: ['duckdb/syntax', 'compiler/sql/', 'compiler/lineage/', 'commands/explain'],
  },
  {
    part: 'the catalog',
    reads: 'duckdb_tables(), duckdb_columns(), duckdb_functions() and others',
    tests: ['compiler/bind/', 'compiler/kinds', 'commands/dropped-table', 'pipeline/warehouse'],
  },
  {
    part: 'the log',
    reads: 'entries and marks of a write-ahead log (src/duckdb/log-file.ts)',
    tests: ['duckdb/log-file', 'store/files/log-repair'],
  },
  {
    part: 'error messages',
    reads: 'texts by which an error is explained (src/duckdb/errors.ts, src/compiler/hints)',
    tests: ['compiler/diagnostics-golden', 'duckdb/transact', 'store/files/', 'commands/broken-'],
  },
  {
    part: 'values that pass',
    reads: 'which texts a type reads, and how it prints them (src/collect/validate)',
    tests: ['collect/validate/', 'pipeline/flush/exact-numbers'],
  },
  {
    part: 'SQL of requests',
    reads: 'functions and rounding of DuckDB (src/odata/sql)',
    tests: ['odata/golden', 'odata/sql/', 'odata/answer/apply'],
  },
  {
    part: 'files',
    reads: 'what an earlier version has written, sizes of blocks',
    tests: ['old-projects/', 'duckdb/block-size', 'duckdb/read-only', 'commands/newer-duckdb'],
  },
  {
    part: 'extensions',
    reads: 'names, footers and versions of extension files (src/duckdb/extension-files.ts)',
    tests: ['duckdb/extensions', 'commands/extension'],
  },
  {
    part: "DuckLake's catalog",
    reads: 'its tables and functions in PostgreSQL (src/store/lake)',
    tests: ['lake/stored-types', 'lake/engine-traps', 'lake/altered-columns', 'lake/maintain'],
    needsLake: true,
  },
]

const OPEN = `const { Database } = await import('./dist/src/duckdb/database.js')
  try {
    await (await Database.open({ path: ':memory:' }))[Symbol.asyncDispose]()
    console.log('ok')
  } catch (error) {
    console.log('DIFFERS: ' + error.message)
  }`

const [version, ...words] = process.argv.slice(2)
if (version === undefined) {
  process.stderr.write('usage: npm run check-engine -- VERSION [WORD]...\n')
  process.exit(2)
}
const place = mkdtempSync(join(tmpdir(), 'eider-engine-'))
const tree = join(place, 'tree')
process.exitCode = check() ? 0 : 1

/** True: nothing differs. */
function check() {
  const own = engineOf(repository)
  installEngine()
  copyTree()
  const other = engineOf(tree)
  if (other === null) {
    print(`check-engine: ${version} does not start; see ${place}`)
    return false
  }
  print(`DuckDB ${other} (@duckdb/node-api ${version}) against ${own}\n`)
  const build = run('build', ['npm', 'run', 'build'])
  report('the driver', 'types of @duckdb/node-api', build.status === 0 ? 'ok' : 'does not compile')
  if (build.status !== 0) return keepPlace()
  const open = run('opening', [process.execPath, '--input-type=module', '-e', OPEN])
  report(
    'opening',
    'settings of a database (src/duckdb/database.ts)',
    open.stdout.trim() || 'ended',
  )
  // No test could say more.
  if (open.stdout.trim() !== 'ok') return keepPlace()
  const chosen = parts.filter(
    ({ part }) => words.length === 0 || words.some((word) => part.includes(word)),
  )
  const rows = [...chosen.map((part) => rowOf(part, other)), storageRow(other, own)]
  const isSame = rows.every((isOk) => isOk)
  if (!isSame) return keepPlace()
  rmSync(place, { recursive: true, force: true })
  return true
}

function keepPlace() {
  print(`\nWhat the tests printed is in ${place}`)
  return false
}

function installEngine() {
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
  const { status, stderr } = spawnSync(
    'npm',
    [...args, '--prefix', place, `@duckdb/node-api@${version}`],
    { encoding: 'utf8' },
  )
  if (status === 0) return
  process.stderr.write(`check-engine: npm cannot install it: ${stderr}\n`)
  process.exit(2)
}

/** Packages are links to those of the repository, except for those of DuckDB. */
function copyTree() {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = spawnSync('git', list, { cwd: repository, encoding: 'utf8', maxBuffer: 1e8 })
  for (const file of files.stdout.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    cpSync(join(repository, file), join(tree, file))
  }
  const packages = join(repository, 'node_modules')
  mkdirSync(join(tree, 'node_modules'))
  for (const name of readdirSync(packages))
    if (name !== '@duckdb' && (name === '.bin' || !name.startsWith('.')))
      symlinkSync(join(packages, name), join(tree, 'node_modules', name))
  symlinkSync(join(place, 'node_modules', '@duckdb'), join(tree, 'node_modules', '@duckdb'))
}

/** The version of DuckDB in a tree; null: it does not start. */
function engineOf(dir) {
  const { status, stdout } = query(dir, ':memory:', ['SELECT version()'])
  return status === 0 ? stdout.trim() : null
}

/** Prints the first value of the last statement. */
function query(dir, path, statements) {
  const script = `import { DuckDBInstance } from '@duckdb/node-api'
    const instance = await DuckDBInstance.create(${JSON.stringify(path)})
    const connection = await instance.connect()
    let rows = []
    for (const text of ${JSON.stringify(statements)}) rows = (await connection.runAndReadAll(text)).getRows()
    console.log(String(rows[0]?.[0] ?? ''))
    connection.closeSync(); instance.closeSync()`
  const args = ['--input-type=module', '-e', script]
  return spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' })
}

/** The tests of one part. True: as here, or not to be tested on this machine. */
function rowOf({ part, reads, tests, needsLake = false }, engine) {
  if (needsLake && !hasExtensions(engine)) {
    report(part, reads, `NOT CHECKED: no extensions for ${engine} (npm run lake-parts)`)
    return true
  }
  const { stdout } = run(part, [process.execPath, 'dist/test/run.js', ...tests])
  const counts = /^(\d+) passed, (\d+) failed/m.exec(stdout)
  const failed = [...stdout.matchAll(/^FAIL (\S+)/gm)].map(([, name]) => name)
  const isOk = counts !== null && counts[2] === '0' && counts[1] !== '0'
  const differs = counts === null ? 'the tests did not end' : `DIFFERS: ${failed.join(', ')}`
  report(part, reads, isOk ? `ok (${counts[1]} tests)` : differs)
  return isOk
}

function hasExtensions(engine) {
  const dir = process.env['EIDER_LAKE_PARTS'] ?? join(homedir(), '.cache/eider/lake-parts')
  try {
    return readdirSync(join(dir, 'extensions')).includes(engine)
  } catch {
    return false
  }
}

/** Whether each version reads what the other one has written with its default. */
function storageRow(other, own) {
  const statements = ["CREATE TABLE t AS SELECT 'x' AS a, 1.50::DECIMAL(9, 2) AS b", 'CHECKPOINT']
  const read = ['SELECT a || b FROM t']
  const [theirs, ours] = [join(place, 'theirs.duckdb'), join(place, 'ours.duckdb')]
  query(tree, theirs, statements)
  query(repository, ours, statements)
  const unread = [
    ...(query(tree, ours, read).stdout.trim() === 'x1.50' ? [] : [`${other} cannot read ${own}`]),
    ...(query(repository, theirs, read).stdout.trim() === 'x1.50'
      ? []
      : [`${own} cannot read ${other}`]),
  ]
  report('storage version', 'files both ways', unread.length === 0 ? 'ok' : unread.join(', '))
  return unread.length === 0
}

/** In the copied tree; what it prints is kept. */
function run(part, [program, ...args]) {
  const options = { cwd: tree, encoding: 'utf8', maxBuffer: 1e8 }
  const result = spawnSync(program, args, options)
  writeFileSync(join(place, `${part.replaceAll(/\W+/g, '-')}.log`), result.stdout + result.stderr)
  return result
}

function report(part, reads, result) {
  print(`${part.padEnd(20)} ${reads}\n${' '.repeat(20)} ${result}`)
}

function print(line) {
  process.stdout.write(`${line}\n`)
}
