// What strace has written as calls on a disk (recorded-disk.ts). A write counts from its beginning, a sync from its end.

import { createReadStream } from 'node:fs'
import { relative, sep } from 'node:path'
import { createInterface } from 'node:readline'
import type { Call } from './recorded-disk.ts'

/** Calls on files below `directory`. */
export async function readTrace(path: string, directory: string): Promise<readonly Call[]> {
  const calls: Call[] = []
  const begun = new Map<string, string>()
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Infinity,
  })) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/s.exec(line) ?? []
    if (text.endsWith('<unfinished ...>')) {
      begun.set(thread, text.slice(0, -'<unfinished ...>'.length))
      continue
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(text) ?? []
    const whole =
      resumed === undefined ? text : (begun.get(thread) ?? '') + text.slice(resumed.length)
    const call = callOf(whole, directory)
    if (call !== null) calls.push(call)
  }
  return calls
}

function callOf(text: string, directory: string): Call | null {
  const [, name = '', given = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+.*)$/s.exec(text) ?? []
  if (name === '' || result.startsWith('-')) return null
  const below = (path: string | undefined): string | null => {
    if (path === undefined) return null
    const found = relative(directory, path.replace(/ \(deleted\)$/, ''))
    return found.startsWith('..') || found.startsWith(sep) ? null : found || '.'
  }
  const files = Array.from(given.matchAll(/\b(\d+)<([^>]*)>/g), ([, fd, path]) => ({
    fd: Number(fd),
    path: below(path),
  }))
  const names = () => Array.from(given.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, one]) => below(one))
  return changeOf({ name, given, result, files, names, below })
}

interface OpenFile {
  readonly fd: number
  readonly path: string | null
}

interface Parsed {
  readonly name: string
  readonly given: string
  readonly result: string
  readonly files: readonly OpenFile[]
  readonly names: () => readonly (string | null)[]
  readonly below: (path: string | undefined) => string | null
}

const other = (path: string, act: Call['act']): Call => ({ path, isWrite: false, act })

function copy(from: OpenFile, { fd, path }: OpenFile, bytes: number): Call | null {
  const source = from.path
  if (source === null || path === null) return null
  return { path, isWrite: true, act: (disk) => disk.copy(source, fd, path, bytes) }
}

function changeOf(parsed: Parsed): Call | null {
  const { name, given, result, files, names } = parsed
  if (name === 'openat') return openingOf(parsed)
  if (/^(?:rename|link|unlink)/.test(name)) {
    const [from = null, to = null] = names()
    if (from === null) return null
    if (name.startsWith('unlink')) return other(from, (disk) => disk.remove(from))
    if (to === null) return null
    const isMove = name.startsWith('rename')
    return other(from, (disk) => (isMove ? disk.move(from, to) : disk.link(from, to)))
  }
  const [file, second] = files
  if (file === undefined || file.path === null) return null
  const { fd, path } = file
  const done = Number(/^\d+/.exec(result)?.[0])
  const last = given.slice(given.lastIndexOf(' ') + 1)
  switch (name) {
    case 'lseek':
      return other(path, (disk) => disk.seek(fd, done))
    case 'fsync':
    case 'fdatasync':
      return other(path, (disk) => disk.sync(path))
    case 'ftruncate':
      return other(path, (disk) => disk.truncate(path, Number(last)))
    case 'write':
    case 'writev':
    case 'pwrite64':
    case 'pwritev': {
      const at = name.startsWith('p') ? Number(last) : null
      const bytes = bytesOf(given).subarray(0, done)
      return { path, isWrite: true, act: (disk) => disk.write(fd, path, bytes, at) }
    }
    case 'copy_file_range':
      return copy(file, second!, done)
    case 'sendfile':
      return copy(second!, file, done)
    case 'ioctl':
    case 'fallocate':
      throw new Error(`not known on a recorded disk: ${name}(${given.slice(0, 200)})`)
    default:
      return null
  }
}

function openingOf({ given, result, below }: Parsed): Call | null {
  const [, fd, opened] = /^(\d+)<([^>]*)>/.exec(result) ?? []
  const path = below(opened)
  const [flags = ''] = /\bO_[A-Z_|]+/.exec(given) ?? []
  return path === null ? null : other(path, (disk) => disk.open(Number(fd), path, flags))
}

const ESCAPED = /\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))/gs
const NAMED: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  v: '\v',
  f: '\f',
  b: '\b',
  a: '\x07',
}

/** All texts of the arguments, one after the other. */
function bytesOf(given: string): Buffer {
  const texts = Array.from(given.matchAll(/"((?:[^"\\]|\\.)*)"/gs), ([, text = '']) =>
    text.replace(ESCAPED, (_, hex?: string, octal?: string, named?: string) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16))
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8))
      return NAMED[named!] ?? named!
    }),
  )
  return Buffer.from(texts.join(''), 'latin1')
}
