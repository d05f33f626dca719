// Loaded into the built command line by `node --import`, so that it dies at a point that the test chooses. Nothing in
// src/ knows of it.
//
//   EIDER_DEATH=<before|after> <n>   SIGKILL at the nth call that touches a file below .eider, sends a request to the
//                                    admin port or, in a run, gives the engine a statement
//   EIDER_DEATH=<before|after> <n> <word>   the same, counted from the first call on a path with that word
//                                    It says on stderr how many calls there were when it has lived on: calls <n>
//   EIDER_DISK=volatile              what was written and not synced dies with the process, as in a power cut
//   EIDER_DISK=lying                 and a sync does nothing: the control

import fs from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

const [when, at, from = ''] = (process.env['EIDER_DEATH'] ?? '').split(' ')
const disk = process.env['EIDER_DISK']
let calls = 0
let counts = from === ''

type Call = (...args: unknown[]) => unknown

/** Counts a call as a point at which the process may die. */
function pass(call: () => unknown): unknown {
  if (!counts) return call()
  const isLast = ++calls === Number(at)
  if (isLast && when === 'before') die()
  const result = call()
  if (!isLast || when !== 'after') return result
  if (!(result instanceof Promise)) return die()
  return result.finally(die)
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

if (at !== undefined) process.on('exit', () => writeThrough(2, `calls ${calls}\n`))

const isOwned = (path: unknown) => typeof path === 'string' && path.includes('.eider')

/** Replaces a function of `object` by one that does `instead` with the original. */
function replace(
  object: object,
  name: string,
  instead: (original: Call, args: unknown[]) => unknown,
) {
  const original = (Reflect.get(object, name) as Call).bind(object)
  Reflect.set(object, name, (...args: unknown[]) => instead(original, args))
}

const ON_PATHS = [
  'open',
  'rename',
  'link',
  'unlink',
  'mkdir',
  'readdir',
  'readFile',
  'writeFile',
  'rm',
]
for (const name of ON_PATHS)
  replace(fs.promises, name, (original, args) => {
    if (!isOwned(args[0])) return original(...args)
    counts ||= String(args[0]).includes(from)
    const result = pass(() => original(...args))
    return name === 'open' ? (result as Promise<fs.promises.FileHandle>).then(mortal) : result
  })

/** By descriptor: what was written to it and not synced. */
const unsynced = new Map<unknown, { readonly bytes: Buffer; readonly position: number }[]>()
const writeThrough = fs.writeSync.bind(fs)

function mortal(handle: fs.promises.FileHandle): fs.promises.FileHandle {
  const { fd } = handle
  unsynced.set(fd, [])
  for (const name of ['datasync', 'sync', 'truncate', 'read', 'stat', 'close'])
    replace(handle, name, (original, args) => {
      if (name === 'truncate') unsynced.set(fd, [])
      if (name.endsWith('sync') && disk === 'lying') return pass(() => Promise.resolve())
      if (name === 'datasync') writeBack(fd)
      if (name === 'close') unsynced.delete(fd)
      return pass(() => original(...args))
    })
  return handle
}

function writeBack(fd: number): void {
  for (const { bytes, position } of unsynced.get(fd) ?? [])
    writeThrough(fd, bytes, 0, bytes.length, position)
  unsynced.set(fd, [])
}

replace(fs, 'writeSync', (original, args) => {
  const [fd, bytes, , length, position] = args as [number, Buffer, number, number, number]
  const cached = disk === undefined ? undefined : unsynced.get(fd)
  if (!unsynced.has(fd)) return original(...args)
  if (cached === undefined) return pass(() => original(...args))
  return pass(() => {
    cached.push({ bytes: Buffer.from(bytes), position })
    return length
  })
})

replace(http, 'request', (original, args) =>
  pass(() => {
    const request = original(...args) as http.ClientRequest
    request.prependListener('response', () => void pass(() => null))
    return request
  }),
)

syncBuiltinESMExports()

if (process.argv.includes('run')) {
  const { DuckDBConnection } = await import('@duckdb/node-api')
  const run = Reflect.get(DuckDBConnection.prototype, 'run') as Call
  Reflect.set(DuckDBConnection.prototype, 'run', function (this: unknown, ...args: unknown[]) {
    return pass(() => run.apply(this, args))
  })
}
