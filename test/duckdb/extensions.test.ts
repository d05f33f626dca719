// Extensions: where they are, what is said of one that is missing or is not what its makers signed, and freshness.

import os from 'node:os'
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  builtInExtensions,
  extensionNamed,
  extensionNames,
  withRequired,
} from '../../src/core/extensions.ts'
import { sql } from '../../src/core/sql.ts'
import { openWithChecked } from '../../src/duckdb/checked-extensions.ts'
import { Database } from '../../src/duckdb/database.ts'
import {
  enginePlatform,
  engineVersion,
  extensionFile,
  ExtensionError,
  extensionVersions,
  platformOf,
  versionOfExtension,
} from '../../src/duckdb/extension-files.ts'
import { installExtensions, problemOfExtension } from '../../src/duckdb/extensions.ts'
import { textOf } from '../../src/duckdb/values.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('the list of the repository, its aliases and what is built in are those of the engine', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT extension_name AS name, aliases::JSON::VARCHAR AS aliases, install_mode = 'STATICALLY_LINKED' AS "in"
    FROM duckdb_extensions() ORDER BY extension_name`)
  const names = rows.filter((row) => row['in'] !== true).map(({ name }) => textOf(name))
  assert.equal(names, [...extensionNames].toSorted())
  const within = rows.filter((row) => row['in'] === true).map(({ name }) => textOf(name))
  assert.equal(within, [...builtInExtensions].toSorted())
  for (const { name, aliases } of rows)
    for (const alias of JSON.parse(textOf(aliases)) as string[])
      if (!builtInExtensions.has(textOf(name))) assert.is(extensionNamed(alias), name)
  assert.is(extensionNamed('Postgres'), 'postgres_scanner')
  assert.is(extensionNamed('h3'), null)
  assert.equal(withRequired(['iceberg', 'httpfs']), ['avro', 'iceberg', 'httpfs'])
})

test('the path of an extension is where the engine looks', async () => {
  await using dir = await temporaryDirectory()
  const extensions = { directory: dir.path, names: [] }
  await using database = await Database.open({ path: ':memory:', extensions })
  await using connection = await database.connect()
  const row = await connection.row(
    sql`SELECT library_version AS version, (SELECT platform FROM pragma_platform()) AS platform FROM pragma_version()`,
  )
  assert.equal([engineVersion(), enginePlatform()], [row?.['version'], row?.['platform']])
  assert.is(platformOf('darwin', 'arm64'), 'osx_arm64')
  assert.is(platformOf('win32', 'x64'), 'windows_amd64')
  const error = await connection.run(sql`LOAD httpfs`).catch(String)
  assert.ok(String(error).includes(extensionFile(dir.path, 'httpfs')), String(error))
})

test('an extension that is missing is said with the command and the file', async () => {
  await using dir = await temporaryDirectory()
  const problem = await problemOfExtension(dir.path, 'spatial')
  assert.instance(problem, ExtensionError)
  assert.is(problem?.code, 'extension-missing')
  assert.is(problem?.message, 'the extension spatial is not installed')
  assert.is(
    problem?.hint,
    `eider extension install spatial; on a machine without a network put the file there: ${extensionFile(dir.path, 'spatial')}`,
  )
  assert.equal(await extensionVersions({ directory: dir.path, names: ['iceberg'] }), [
    ['avro', null],
    ['iceberg', null],
  ])
})

test('a file that is no extension is damaged, and is not installed from', async () => {
  await using dir = await temporaryDirectory()
  const directory = join(dir.path, 'mine')
  const mirror = join(dir.path, 'mirror')
  for (const text of ['', 'hello', 'x'.repeat(4096)])
    for (const place of [directory, mirror]) {
      const path = extensionFile(place, 'excel')
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
      const problem = await problemOfExtension(place, 'excel')
      assert.is(problem?.code, 'extension-damaged')
      assert.is(
        problem?.message,
        `the extension excel cannot be loaded: the file is incomplete: ${path}`,
      )
    }
  const error = await install({ directory, names: ['excel'] }, mirror).catch(
    (cause: unknown) => cause,
  )
  assert.match(String(error), /the extension excel cannot be /)
})

test('what a mirror does not have is said with the file that is looked for', async () => {
  await using dir = await temporaryDirectory()
  const error = (await install({ directory: dir.path, names: ['excel'] }, dir.path).catch(
    (cause: unknown) => cause,
  )) as { code: string; hint: string }
  assert.is(error.code, 'extension-not-installed')
  const orPackage = 'or the package duckdb-extension-excel of PyPI, unpacked there'
  assert.is(error.hint, `expected the file ${extensionFile(dir.path, 'excel')}, ${orPackage}`)
})

withExtensions(
  test,
  ['httpfs'],
  'a directory is a mirror; what is there stays, what is damaged is replaced',
  async () => {
    await using dir = await temporaryDirectory()
    const extensions = { directory: dir.path, names: ['httpfs'] }
    const [first] = await install(extensions, extensionCache)
    assert.is(first?.isNew, true)
    const path = extensionFile(dir.path, 'httpfs')
    assert.is(first?.path, path)
    assert.match(String(first?.version), /^[0-9a-f]{7,}$/)
    const [again] = await install(extensions, '/nowhere')
    assert.is(again?.isNew, false)

    const whole = await readFile(path)
    const damaged = Buffer.from(whole)
    damaged[1_000_000]! ^= 1
    await replace(path, damaged)
    const problem = await problemOfExtension(dir.path, 'httpfs')
    assert.is(problem?.code, 'extension-damaged')
    assert.is(
      problem?.message,
      `the extension httpfs cannot be loaded: its signature is not valid: ${path}`,
    )
    const [mended] = await install(extensions, extensionCache)
    assert.is(mended?.isNew, true)
    assert.is(await problemOfExtension(dir.path, 'httpfs'), null)

    const version = whole.lastIndexOf(engineVersion())
    whole.write('v0.0.1', version)
    await replace(path, whole)
    const other = await problemOfExtension(dir.path, 'httpfs')
    assert.match(String(other?.message), /it was built for v0\.0\.1/)
  },
)

withExtensions(
  test,
  ['httpfs'],
  'an engine loads what it is told, once, and nothing by itself',
  async () => {
    const extensions = { directory: extensionCache, names: ['httpfs'] }
    await using database = await Database.open({ path: ':memory:', extensions })
    await using connection = await database.connect()
    await connection.loadExtensions(['httpfs'])
    const row = await connection.row(sql`
    SELECT list(extension_name) AS loaded, first(current_setting('autoload_known_extensions')) AS auto,
      first(current_setting('autoinstall_known_extensions')) AS fetch
    FROM duckdb_extensions() WHERE loaded AND install_mode <> 'STATICALLY_LINKED'`)
    assert.equal(row, { loaded: ['httpfs'], auto: false, fetch: false })
    const path = extensionFile(extensionCache, 'httpfs')
    const said = await connection.row(
      sql`SELECT extension_version AS version FROM duckdb_extensions() WHERE extension_name = 'httpfs'`,
    )
    assert.is(await versionOfExtension(path), said?.['version'])
  },
)

withExtensions(
  test,
  ['excel', 'sqlite_scanner'],
  'a file is checked once for all engines of a process, and anew when another one lies there',
  async () => {
    await using dir = await temporaryDirectory()
    const extensions = { directory: dir.path, names: ['excel'] }
    await install(extensions, extensionCache)
    const path = extensionFile(dir.path, 'excel')
    const isKnown = () => openWithChecked(extensions, async (isChecked) => isChecked)
    assert.is(await isKnown(), true)

    // What comes later is checked in an engine that has not checked this one.
    const unsigned = await readFile(extensionFile(extensionCache, 'sqlite_scanner'))
    unsigned[1_000_000]! ^= 1
    const other = join(dir.path, 'sqlite_scanner.duckdb_extension')
    await writeFile(other, unsigned)
    await using database = await Database.open({ path: ':memory:', extensions })
    await using connection = await database.connect()
    const refused = await connection.run(sql`LOAD ${sql.value(other)}`).catch(String)
    assert.match(String(refused), /signature is either missing or invalid/)
    const set = sql`SET GLOBAL allow_unsigned_extensions = true`
    assert.match(String(await connection.run(set).catch(String)), /Cannot change/)

    const { atime, mtime } = await stat(path)
    const damaged = await readFile(path)
    damaged[1_000_000]! ^= 1
    await replace(path, damaged)
    await utimes(path, atime, mtime)
    const problem = await problemOfExtension(dir.path, 'excel')
    assert.match(String(problem?.message), /its signature is not valid/)
    assert.is(await Database.open({ path: ':memory:', extensions }).catch(() => null), null)
  },
)

/** This process has the code of the former file in its memory. */
async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await rm(path)
  await writeFile(path, bytes)
}

async function install(...given: Parameters<typeof installExtensions>) {
  const installed = []
  for await (const one of installExtensions(...given)) installed.push(one)
  return installed
}

test('without a setting the directory is that of the engine', async () => {
  const { extensionDirectory } = await import('../../src/project/extensions.ts')
  assert.is(extensionDirectory('/x', null), join(os.homedir(), '.duckdb', 'extensions'))
  assert.is(extensionDirectory('/x', 'ext'), '/x/ext')
})

test.run()
