// What the operating system refused, in words that a person can act on. No errno reaches a person.

import { accessSync, constants, statfsSync, statSync, type Stats } from 'node:fs'
import { constants as system, userInfo } from 'node:os'
import { dirname, relative, sep } from 'node:path'

/** There is no room, no inode is left or the quota is used up: says the system, or DuckDB, which wrote the file. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  ((error as NodeJS.ErrnoException).code === 'ENOSPC' ||
    isQuota(error) ||
    /No space left on device|Disk quota exceeded/.test(error.message))

/** Node 20 has no code for it. */
export const isQuota = ({ code, errno = 0 }: NodeJS.ErrnoException): boolean =>
  code === 'EDQUOT' || -errno === system.errno.EDQUOT

/** Says the system, DuckDB, which opened the file, or Node 24, of the files of a package. */
const isOutOfFiles = ({ code = '', message }: NodeJS.ErrnoException): boolean =>
  ['EMFILE', 'ENFILE'].includes(code) || /: too many open files/i.test(message)

interface SystemProblem {
  /** A whole sentence, with the path in it. */
  readonly problem: string
  readonly hint: string
}

/**
 * null for what no permission, disk or path causes: a bug, most likely. `known`: the path, for errors that name none, as
 * those of reads do.
 */
export function systemProblem(error: unknown, known?: string): SystemProblem | null {
  const {
    code = '',
    path,
    dest,
    file,
  } = (error ?? {}) as NodeJS.ErrnoException & { readonly dest?: string; readonly file?: string }
  const at = dest ?? path ?? known ?? file
  if (!(error instanceof Error)) return null
  if (isDiskFull(error)) return fullDisk(error, at)
  if (isOutOfFiles(error))
    return {
      problem: `too many files are open${at === undefined ? '' : `, at ${shownPath(at)}`}`,
      hint: 'raise the limit with ulimit -n',
    }
  if (at === undefined) return null
  const shown = shownPath(at)
  if (code === 'EACCES' || code === 'EPERM') return refusedAccess(at)
  if (code === 'EEXIST' || code === 'ENOTDIR') return inTheWay(at)
  if (code === 'EIO')
    return { problem: `the disk failed at ${shown}`, hint: 'check the system log for disk errors' }
  const [says, hint = ''] = problemsOfPaths.get(code) ?? []
  return says === undefined ? null : { problem: `${shown} ${says}`, hint }
}

/** By code, what is said after the path, and the hint. */
const problemsOfPaths: ReadonlyMap<string, readonly [says: string, hint: string]> = new Map([
  [
    'EROFS',
    ['is on a read-only file system', 'mount it for writing, or move the project to another disk'],
  ],
  ['EISDIR', ['is a directory and must be a file', 'move it away']],
  ['NOTREG', ['is a pipe, a socket or a device', 'put a file there']],
  ['EFBIG', ['is too large', 'move it away']],
  ['ELOOP', ['is a symbolic link to itself', 'remove the link']],
  ['INLOOP', ['is a symbolic link to a folder that it is in', 'remove the link']],
  ['ENOENT', ['does not exist', 'check the path']],
])

/** What systemProblem() says; the message of the error where it says nothing. */
export const problemOfSystem = (error: unknown, known?: string): string =>
  systemProblem(error, known)?.problem ?? (error instanceof Error ? error.message : String(error))

export const hintOfSystem = (error: unknown, known?: string): string | undefined =>
  systemProblem(error, known)?.hint

/** Why a server cannot listen, but for a port that another process has. */
export function listenProblem(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
): { readonly problem: string; readonly hint?: string } {
  if (code === 'EADDRNOTAVAIL')
    return {
      problem: `${host} is not an address of this machine`,
      hint: 'listen on 127.0.0.1, or on 0.0.0.0 for all addresses of this machine',
    }
  if (code === 'EACCES' || code === 'EPERM')
    return {
      problem: `${userName()} may not listen on port ${port}`,
      hint: 'ports below 1024 need more privileges; choose a higher one',
    }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { problem: `unknown host "${host}"`, hint: 'use an address of this machine' }
  return { problem: `cannot listen on ${host}:${port}: ${message}` }
}

function fullDisk(error: Error, named?: string): SystemProblem {
  const at = named ?? fullProjectDir()
  const shown = at === undefined ? '' : shownPath(at)
  if (isQuota(error))
    return {
      problem: `the disk quota of ${userName()} is exceeded${shown === '' ? '' : ` at ${shown}`}`,
      hint: 'free some space or raise the quota, and run the command again',
    }
  const disk = shown === '' ? 'the disk' : `the disk of ${shown}`
  if (at !== undefined && hasNoInodes(at))
    return {
      problem: `${disk} has no inodes left, so it takes no more files`,
      hint: 'remove files that nobody needs, and run the command again',
    }
  return {
    problem: `${disk} is full`,
    hint: 'free some space, and run the command again',
  }
}

/** Less than this is no room for what eider writes at once. */
const ROOM_BYTES = 16 << 20

/** The working directory, which is that of the project, where its disk may be the full one: errors of writes name no file. */
function fullProjectDir(): string | undefined {
  try {
    const dir = process.cwd()
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize < ROOM_BYTES ? dir : undefined
  } catch {
    return undefined
  }
}

/** File systems that make inodes when they need them count none. */
export function hasNoInodes(path: string): boolean {
  try {
    const { files, ffree } = statfsSync(nearestThatExists(path).found)
    return files > 0 && ffree === 0
  } catch {
    return false
  }
}

/** The file or directory whose owner or mode is the cause is often one above the path. */
function refusedAccess(path: string): SystemProblem {
  const { found, stats } = nearestThatExists(path)
  const user = userName()
  const verb = may(found, constants.R_OK) ? 'written' : 'read'
  const shown = shownPath(found)
  const isOwn = stats === null || stats.uid === process.getuid?.()
  const more = '; "eider doctor" lists such files'
  if (isOwn)
    return {
      problem: `${shown} cannot be ${verb} by user ${user}`,
      hint: `chmod u+rwX ${quoted(shown)}${more}`,
    }
  const owner = stats.uid === 0 ? 'root' : `user ${stats.uid}`
  return {
    problem: `${shown} belongs to ${owner} and cannot be ${verb} by user ${user}`,
    hint: `chown -R ${user} ${quoted(shown)}${more}`,
  }
}

function inTheWay(path: string): SystemProblem {
  const { found } = nearestThatExists(path)
  const shown = shownPath(found)
  return { problem: `${shown} is a file and must be a directory`, hint: 'move it away' }
}

function nearestThatExists(path: string): { readonly found: string; readonly stats: Stats | null } {
  for (let found = path; ; found = dirname(found)) {
    try {
      return { found, stats: statSync(found) }
    } catch {
      if (found === dirname(found)) return { found: path, stats: null }
    }
  }
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** From the working directory on where it is in there, which is the project directory for most commands. */
function shownPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below.startsWith(`..${sep}`) || below === '..' ? path : below
}

const quoted = (path: string) =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `${process.getuid?.() ?? 'this user'}` // a container may have no name for it
  }
}
