// In the thread of Node that loads modules: gives the bundle of the simulation with other text in the part that one file
// of eider has become. Where the text is not found, a test that puts a fault back would show nothing, so the process ends.

import type { LoadHook } from 'node:module'

interface Change {
  readonly url: string
  readonly file: string
  readonly sound: string
  readonly faulty: string
}

let change: Change

export function initialize(data: Change): void {
  change = data
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (url !== change.url) return loaded
  const source = Buffer.from(loaded.source as Uint8Array).toString('utf8')
  // The bundler says where the code of a file begins.
  const start = source.indexOf(`\n// ${change.file}\n`) + 1
  const end = source.indexOf('\n// ', start)
  const part = source.slice(start, end)
  if (start === 0 || !part.includes(change.sound))
    throw new Error(`${change.file} has no ${change.sound}`)
  const faulty = part.replaceAll(change.sound, change.faulty)
  return { ...loaded, source: source.slice(0, start) + faulty + source.slice(end) }
}
