// In the thread of Node that loads modules: gives one of them with other text. Where the text is not found, a test that
// puts a fault back would show nothing, so the process ends.

import type { LoadHook } from 'node:module'

interface Change {
  readonly url: string
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
  if (!source.includes(change.sound)) throw new Error(`${url} has no ${change.sound}`)
  return { ...loaded, source: source.replaceAll(change.sound, change.faulty) }
}
