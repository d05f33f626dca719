// Tells whether a file is what it was without reading it. The system alone sets the time at which a file was changed, also
// when somebody sets its other times back, and a file that takes the place of another one has another number.

import { statSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { hashOf } from '../core/hash.ts'
import { limits } from '../core/limits.ts'

export interface Stamp {
  readonly text: string
  /** When the content, the name or the rights were last changed, in milliseconds of Unix time. */
  readonly changedMs: number
}

/** null when it is not a file, or the file system counts whole seconds, so that a second change would not show. */
export function stampOf(path: string): Stamp | null {
  const found = statOf(path)
  if (found?.isFile() !== true || found.ctimeNs % 1_000_000_000n === 0n) return null
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = found
  const changedNs = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
  return {
    text: [dev, ino, mode, size, mtimeNs, ctimeNs].join(),
    changedMs: Number(changedNs / 1_000_000n),
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined // its directory is not ours to read
  }
}

// Tells whether what a query reads by a name is what it was: a file, or all files that a pattern or a directory stands for.
//
// DuckDB expands patterns. Here they are only narrowed down: a file counts where its name begins with the letters before the
// first special character of a segment, and ends with those after its last. So all that DuckDB finds is among what is
// stamped, whatever it makes of brackets; what it does not find costs a doubt too many when it changes.

/** null where stampOf() is, of any of the files, and of a URL or a home directory. */
export function stampOfName(dir: string, name: string): Stamp | null {
  if (/^~|:/.test(name)) return null
  const isDirectory = kindOf(resolve(dir, name)) === 'directory'
  if (!isDirectory && !SPECIAL.test(name)) return stampOf(resolve(dir, name))
  const paths = matchable(dir, isDirectory ? `${name}/**` : name)
  if (paths.length > limits.stampedFiles) return null
  const stamps = paths.map(stampOf)
  if (!stamps.every((stamp) => stamp !== null)) return null
  return {
    text: hashOf(32, [paths, stamps.map(({ text }) => text)]),
    changedMs: stamps.reduce((latest, { changedMs }) => Math.max(latest, changedMs), 0),
  }
}

const SPECIAL = /[*?[\]{}\\]/

/** In an order that depends on the names alone. What is there and is no file is among them, and then has no stamp. */
function matchable(dir: string, pattern: string): readonly string[] {
  const segments = pattern.split('/').filter((segment) => segment !== '')
  let paths: readonly string[] = [pattern.startsWith('/') ? '' : dir]
  for (const segment of segments) {
    if (paths.length > limits.stampedFiles) return paths
    if (segment.includes('**')) return paths.flatMap((path) => below(path, segments.at(-1)!))
    paths = SPECIAL.test(segment)
      ? paths.flatMap((path) => childrenOf(path, segment))
      : paths.map((path) => `${path}/${segment}`)
  }
  return paths.filter((path) => kindOf(path) !== null)
}

const childrenOf = (path: string, segment: string): readonly string[] =>
  list(path, (at) =>
    readdirSync(at).flatMap((name) => (mayMatch(name, segment) ? [`${path}/${name}`] : [])),
  )

/** A link to a directory is among them under any name: nobody has to know whether DuckDB follows it. */
const below = (path: string, segment: string): readonly string[] =>
  list(path, (at) =>
    readdirSync(at, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const found = `${entry.parentPath}/${entry.name}`
      if (entry.isDirectory()) return []
      const isLink = entry.isSymbolicLink() && kindOf(found) === 'directory'
      return isLink || mayMatch(entry.name, segment) ? [found] : []
    }),
  )

/** A directory that cannot be read stands for itself. */
function list(path: string, read: (path: string) => readonly string[]): readonly string[] {
  try {
    return read(`${path}/`).toSorted()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return ['ENOENT', 'ENOTDIR'].includes(code) ? [] : [path]
  }
}

function mayMatch(name: string, segment: string): boolean {
  const plain = segment.toLowerCase().split(SPECIAL)
  const lower = name.toLowerCase()
  return lower.startsWith(plain[0]!) && lower.endsWith(plain.at(-1)!)
}

/** null: nothing is there, or its directory is not ours to read. */
function kindOf(path: string): 'directory' | 'other' | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? null : found.isDirectory() ? 'directory' : 'other'
  } catch {
    return null
  }
}
