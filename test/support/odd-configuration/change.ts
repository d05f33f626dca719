// What a change of a project is made of: chance, words that stand in the wrong place, and files that are no files.

import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { seededRandom } from '../seeded-random.ts'
import { repository } from '../workspace.ts'

export interface Change {
  /** In words, for whoever has to repeat it. */
  readonly what: string
  /** Relative to the project, for what a person writes there; null: the project keeps it for itself. */
  readonly path: string | null
  /** Takes the change away where `path` is null. */
  readonly apply: (dir: string) => () => void
}

export interface Chance {
  readonly below: (n: number) => number
  readonly pick: <T>(from: readonly T[]) => T
}

export function chanceOf(seed: number): Chance {
  const random = seededRandom(seed)
  return {
    below: (n) => Math.floor(random() * n),
    pick: (from) => from[Math.floor(random() * from.length)]!,
  }
}

/** Words by where they are written; those that are too long for a file are made here. */
export const words = JSON.parse(
  readFileSync(join(repository, 'test/golden/configuration/odd-words.json'), 'utf8'),
) as Readonly<Record<Words, readonly string[]>>
type Words =
  | 'values'
  | 'keys'
  | 'groups'
  | 'dotEnv'
  | 'annotations'
  | 'annotationValues'
  | 'bodies'
  | 'seeds'
  | 'seedYml'
  | 'morePaths'
  | 'statePaths'
  | 'states'
  | 'sourceKeys'
  | 'secretKeys'

export function rewrite(
  dir: string,
  path: string,
  make: (before: Buffer) => string | Uint8Array,
): void {
  const file = join(dir, path)
  // An earlier change may have put a pipe there.
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
  const before = isFile ? readFileSync(file) : Buffer.alloc(0)
  rmSync(file, { recursive: true, force: true })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, make(before))
}

export const written = (
  path: string,
  what: string,
  make: (before: Buffer) => string | Uint8Array,
): Change => ({
  what: `${shown(path)} ${what}`,
  path,
  apply: (dir) => {
    rewrite(dir, path, make)
    return () => {}
  },
})

export const shown = (text: string) =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text)

export const odd: Readonly<Record<string, (file: string) => void>> = {
  'a directory': (file) => mkdirSync(file),
  'a directory with a file': (file) => {
    mkdirSync(file)
    writeFileSync(join(file, 'x.sql'), 'SELECT 1 AS id')
  },
  'a link to nothing': (file) => symlinkSync('nothing', file),
  'a link to itself': (file) => symlinkSync(file, file),
  'a pipe': (file) => execFileSync('mkfifo', [file]),
  'a link to /dev/zero': (file) => symlinkSync('/dev/zero', file),
  'a link to /dev/null': (file) => symlinkSync('/dev/null', file),
  'a link to its directory': (file) => symlinkSync('.', file),
  'a link to /proc/self/environ': (file) => symlinkSync('/proc/self/environ', file),
  nothing: () => {},
  'a file': (file) => writeFileSync(file, 'x'),
}

export function put(dir: string, path: string, how: string): void {
  rmSync(join(dir, path), { recursive: true, force: true })
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  odd[how]!(join(dir, path))
}
