// What the program keeps for itself, apart from the rows: cut, of another kind, or of another shape.

import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Chance, type Change, odd, put, rewrite, shown, words } from './change.ts'

export function state({ pick, below }: Chance): Change {
  const pattern = pick(words.statePaths)
  const kind = below(4)
  const how = pick(Object.keys(odd))
  const text = pick(words.states)
  const [at, by] = [below(1000) / 1000, below(1000)]
  const what =
    kind === 0
      ? `is ${how}`
      : kind === 1
        ? `holds ${shown(text)}`
        : kind === 2
          ? `is cut at ${at}`
          : `has a value changed (${by})`
  const make = (before: Buffer) => {
    if (kind === 1) return text
    if (kind === 2) return before.subarray(0, Math.floor(before.length * at))
    return withOtherValue(before, by, text)
  }
  return {
    what: `${pattern} ${what}`,
    path: null,
    apply(dir) {
      const path = resolvePattern(dir, pattern)
      if (kind === 0) put(dir, path, how)
      else rewrite(dir, path, make)
      return () => rmSync(join(dir, path), { recursive: true, force: true })
    },
  }
}

/** A value of the JSON, however deep, has another shape. */
function withOtherValue(before: Buffer, by: number, text: string): string | Buffer {
  let root: unknown
  try {
    root = JSON.parse(before.toString())
  } catch {
    return before.subarray(1)
  }
  const spots: (readonly [Record<string, unknown>, string])[] = []
  const walk = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value)) {
      spots.push([value as Record<string, unknown>, key])
      walk((value as Record<string, unknown>)[key])
    }
  }
  walk(root)
  if (spots.length === 0) return text
  const [owner, key] = spots[by % spots.length]!
  const values: readonly unknown[] = [
    undefined,
    null,
    0,
    -1,
    '',
    'x',
    [],
    {},
    [null],
    { a: 1 },
    true,
    1e300,
    '../../x',
    { ...owner },
  ]
  owner[key] = values[Math.floor(by / 7) % values.length]
  return JSON.stringify(root)
}

function resolvePattern(dir: string, pattern: string): string {
  const [start, end] = pattern.split('*')
  if (end === undefined) return pattern
  const folder = dirname(`${start}x`)
  const names = isFolder(join(dir, folder)) ? readdirSync(join(dir, folder)) : []
  const found = names.toSorted().find((name) => `${folder}/${name}`.startsWith(start!))
  return found === undefined ? `${start}x` : `${folder}/${found}`
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
