// Installing extensions, which is the only thing that ever fetches one.

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withRequired, type Extensions } from '../core/extensions.ts'
import { EnvironmentError } from '../core/failures.ts'
import { sql } from '../core/sql.ts'
import { hintOfSystem, problemOfSystem } from '../files/system-errors.ts'
import { Database } from './database.ts'
import { type DatabaseError, refusalOf } from './errors.ts'
import {
  engineVersion,
  ExtensionError,
  extensionFile,
  reasonOf,
  versionOfExtension,
} from './extension-files.ts'

interface InstalledExtension {
  readonly name: string
  /** false: it was there already, and loads. */
  readonly isNew: boolean
  readonly version: string | null
  readonly path: string
}

/**
 * Installs extensions with those that they need, and loads each to see that it works. One that loads already is left
 * alone. `from`: a directory of the same form as that of extensions; without it the engine's own repository.
 */
export async function* installExtensions(
  { directory, names }: Extensions,
  from: string | null,
): AsyncGenerator<InstalledExtension> {
  await makeDirectory(directory)
  for (const name of withRequired(names)) {
    const path = extensionFile(directory, name)
    const isNew = !(await isUsable(directory, name))
    if (isNew) await install(directory, name, from)
    yield { name, isNew, version: await versionOfExtension(path), path }
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
  } catch (cause) {
    throw new EnvironmentError(
      'extension-not-installed',
      `the directory of extensions, ${directory}, cannot be created: ${problemOfSystem(cause)}`,
      { hint: hintOfSystem(cause) ?? 'set extensions.directory to another path', cause },
    )
  }
}

/** Why an extension cannot be loaded, whatever the lock of a project says; null when it can. */
export const problemOfExtension = (
  directory: string,
  name: string,
): Promise<ExtensionError | null> => problemOfExtensions({ directory, names: [name] })

/** Why one of them cannot be loaded; null when all can. */
export async function problemOfExtensions(extensions: Extensions): Promise<ExtensionError | null> {
  try {
    await using _opened = await openWith(extensions)
    return null
  } catch (error) {
    if (error instanceof ExtensionError) return error
    throw error
  }
}

const isUsable = async (directory: string, name: string): Promise<boolean> =>
  (await problemOfExtension(directory, name)) === null

const openWith = (extensions: Extensions): Promise<Database> =>
  Database.open({ path: ':memory:', threads: 1, extensions })

async function install(directory: string, name: string, from: string | null): Promise<void> {
  {
    await using database = await openWith({ directory, names: [] })
    await using connection = await database.connect()
    const file = from === null ? null : unpackedFile(from, name)
    const source = from === null ? sql`` : sql` FROM ${sql.value(from)}`
    const what = file === null ? sql`${sql.ident(name)}${source}` : sql.value(file)
    const refusal = await refusalOf(connection.run(sql`FORCE INSTALL ${what}`))
    if (refusal !== null) throw notInstalled(name, directory, from, refusal)
  }
  const problem = await problemOfExtension(directory, name)
  if (problem !== null) throw problem
}

/** As packages of PyPI have it, unpacked or installed with pip --target, or the file alone; null: as the engine looks for it. */
function unpackedFile(from: string, name: string): string | null {
  if (existsSync(extensionFile(from, name))) return null
  const file = `${name}.duckdb_extension`
  const inPackage = join('extensions', engineVersion(), file)
  const places = [join(`duckdb_extension_${name}`, inPackage), inPackage, file]
  return places.map((place) => join(from, place)).find(existsSync) ?? null
}

function notInstalled(
  name: string,
  directory: string,
  from: string | null,
  cause: DatabaseError,
): EnvironmentError {
  const failure = (message: string, hint: string) =>
    new EnvironmentError('extension-not-installed', message, { hint, cause })
  const { message } = cause.details
  const there = extensionFile(directory, name)
  if (/no access to the file/.test(message))
    return failure(
      `${from ?? ''} has no extension ${name}`,
      `expected the file ${extensionFile(from ?? '', name)}, or the package duckdb-extension-${name.replaceAll('_', '-')} of PyPI, unpacked there`,
    )
  const url = /at URL "([^"]+)"/.exec(message)?.[1]
  if (url !== undefined)
    return failure(
      `the extension ${name} cannot be fetched from ${url}`,
      `fetch it on another machine, unpack it with gunzip, and put it there: ${there}; or install from a directory: eider extension install ${name} --from DIRECTORY`,
    )
  return failure(
    `the extension ${name} cannot be installed: ${reasonOf(message)}`,
    `it belongs at ${there}`,
  )
}
