// Extensions on disk: where they are, what they say of themselves, and what is wrong with one that does not load.
//
// The last 512 bytes of an extension are eight fields of 32 bytes, then its signature. Read backwards, the fields say:
// the version of this form (4), the platform, the version of the engine, that of the extension.

import { constants } from 'node:fs'
import { createHash } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExtensionLock, withRequired, type Extensions } from '../core/extensions.ts'
import { EnvironmentError } from '../core/failures.ts'
import { bindings } from './bindings.ts'
import type { DatabaseError } from './errors.ts'

const FOOTER_BYTES = 512
const FIELD_BYTES = 32
const VERSION_FIELD = 4

/** Why one is not loaded. */
export class ExtensionError extends EnvironmentError {
  override name = 'ExtensionError'
  readonly extension: string
  constructor(
    extension: string,
    code: 'extension-missing' | 'extension-damaged' | 'extension-locked',
    message: string,
    options: { readonly hint: string; readonly cause?: unknown },
  ) {
    super(code, message, options)
    this.extension = extension
  }
}

/** The engine's name for a platform: the directory of extensions has a directory for each. */
export function platformOf(platform: string, arch: string): string {
  const system = { darwin: 'osx', win32: 'windows' }[platform] ?? platform
  return `${system}_${arch === 'x64' ? 'amd64' : arch}${isMusl(platform) ? '_musl' : ''}`
}

function isMusl(platform: string): boolean {
  if (platform !== 'linux') return false
  const { header } = process.report.getReport() as unknown as {
    readonly header: Readonly<Record<string, unknown>>
  }
  return header['glibcVersionRuntime'] === undefined
}

let platformHere: string | undefined

/** `linux_amd64` and the like. */
export const enginePlatform = (): string =>
  (platformHere ??= platformOf(process.platform, process.arch))

/** With the letter, such as `v1.5.5`. */
export const engineVersion = (): string => bindings.library_version()

export const extensionFile = (directory: string, name: string): string =>
  join(directory, engineVersion(), enginePlatform(), `${name}.duckdb_extension`)

/** What an extension says of its own version; null: it is not there, or not whole. Nothing of it is run. */
export async function versionOfExtension(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY).catch(() => null)
  if (file === null) return null
  try {
    const { size } = await file.stat()
    if (size < FOOTER_BYTES) return null
    const { buffer } = await file.read(
      Buffer.alloc(FIELD_BYTES),
      0,
      FIELD_BYTES,
      size - FOOTER_BYTES + VERSION_FIELD * FIELD_BYTES,
    )
    return buffer.toString('latin1').replace(/\0+$/, '') || null
  } finally {
    await file.close()
  }
}

/** Names with versions: equal where the same code would be loaded. */
export async function extensionVersions({
  directory,
  names,
}: Extensions): Promise<readonly (readonly [string, string | null])[]> {
  return Promise.all(
    withRequired(names).map(
      async (name) => [name, await versionOfExtension(extensionFile(directory, name))] as const,
    ),
  )
}

/** Where a lock has the files of this machine. */
export const lockKey = (): string => `${engineVersion()}/${enginePlatform()}`

/** Another one after each change of the file or what lies in its place; null: it is not there. */
export async function fileIdentity(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  if (found === null) return null
  const { dev, ino, size, mtimeNs, ctimeNs } = found
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

/** By the identity of the file: a service makes an engine for a file of an answer, and hashes 80 MB in 0.3 s. */
const hashes = new Map<string, string>()

/** SHA-256 of an extension; null: it is not there. A file that is the same is not hashed again. */
export async function hashOfExtension(path: string): Promise<string | null> {
  const before = await fileIdentity(path)
  const known = hashes.get(`${path} ${before}`)
  if (known !== undefined) return known
  const file = await readFile(path).catch(() => null)
  if (file === null) return null
  const hash = createHash('sha256').update(file).digest('hex')
  if (before !== null && before === (await fileIdentity(path)))
    hashes.set(`${path} ${before}`, hash)
  return hash
}

/** Throws ExtensionError where the file is not the one that the lock names. One that is missing is left to the engine. */
export async function requireLocked(
  name: string,
  directory: string,
  lock: ExtensionLock | null,
): Promise<void> {
  if (lock === null) return
  const path = extensionFile(directory, name)
  const hash = await hashOfExtension(path)
  const locked = lock[lockKey()]?.[name]
  if (hash === null || hash === locked) return
  const refused = (message: string, hint: string) =>
    new ExtensionError(name, 'extension-locked', message, { hint })
  if (locked === undefined)
    throw refused(
      `eider.lock has no extension ${name} for ${lockKey()}`,
      `eider extension install ${name}`,
    )
  throw refused(
    `the extension ${name} is not the file that eider.lock names for ${lockKey()}: ${path}`,
    `delete that file, then: eider extension install ${name}; to keep it, delete its line in eider.lock first`,
  )
}

/** What to throw for a LOAD that failed. */
export function extensionError(
  name: string,
  directory: string,
  cause: DatabaseError,
): ExtensionError {
  const { message } = cause.details
  const path = extensionFile(directory, name)
  const install = `eider extension install ${name}`
  if (/^Extension ".*" not found/s.test(message))
    return new ExtensionError(name, 'extension-missing', `the extension ${name} is not installed`, {
      hint: `${install}; on a machine without a network put the file there: ${path}`,
      cause,
    })
  return new ExtensionError(
    name,
    'extension-damaged',
    `the extension ${name} cannot be loaded: ${reasonOf(message)}: ${path}`,
    { hint: `${install} replaces it`, cause },
  )
}

/** What the engine says of a file that it refuses, in plain words. */
export function reasonOf(message: string): string {
  if (/signature is either missing or invalid/.test(message)) return 'its signature is not valid'
  if (/is not a DuckDB extension/.test(message)) return 'the file is incomplete'
  const built = /built (?:specifically )?for (?:DuckDB version|the platform) '([^']+)'/.exec(
    message,
  )
  if (built !== null) return `it was built for ${built[1]}`
  return message.split('\n')[0]!
}
