// eider.yml with values that are none, in the place of its settings and anywhere else.

import { settings } from '../../../src/project/settings.ts'
import { type Chance, type Change, shown, words, written } from './change.ts'
import { CONFIG } from './project.ts'

const values = [...words.values, 'x'.repeat(100_000), `[${'1, '.repeat(5_000)}1]`]

/** A setting or group with an odd value, in place of the one that is there. */
export function setting({ pick, below }: Chance): Change {
  const kind = below(8)
  const name =
    kind < 4
      ? pick(Object.keys(settings))
      : kind < 6
        ? pick(words.groups)
        : kind === 6
          ? `sources.files.${pick(words.sourceKeys)}`
          : `secrets.s.${pick(words.secretKeys)}`
  const value = pick(values)
  return written('eider.yml', `${name}: ${shown(value)}`, (text) =>
    withSetting(text.toString(), name.split('.'), value),
  )
}

/** By lines: what is set is no YAML at times. */
function withSetting(text: string, path: readonly string[], value: string): string {
  const lines = text.split('\n')
  let [from, to] = [0, lines.length]
  for (const [depth, key] of path.entries()) {
    const pad = '  '.repeat(depth)
    let at = lines.findIndex((line, i) => i >= from && i < to && line.startsWith(`${pad}${key}:`))
    const isLast = depth === path.length - 1
    if (at < 0) {
      at = to
      while (at > 0 && lines[at - 1] === '') at--
      lines.splice(at, 0, `${pad}${key}:`)
      to++
    }
    let end = at + 1
    while (end < to && (lines[end]!.startsWith(`${pad} `) || lines[end] === '')) end++
    if (isLast) lines.splice(at, end - at, `${pad}${key}: ${value}`)
    else {
      if (lines[at] !== `${pad}${key}:`) lines[at] = `${pad}${key}:`
      from = at + 1
      to = end
    }
  }
  return lines.join('\n')
}

/** A value somewhere in the file. */
export function somewhere({ pick, below }: Chance): Change {
  const spots = [...CONFIG.matchAll(/(?<=: |- |\[|\{)[^\n:,[\]{}]+(?=[\n,\]}])/g)]
  const spot = pick(spots)
  const value = pick(values)
  const isKey = below(4) === 0
  const keys = [...CONFIG.matchAll(/(?<=^ *|- |\{)\w+(?=:)/gm)]
  const { index, 0: old } = isKey ? pick(keys) : spot
  const by = isKey ? pick(words.keys) : value
  return written(
    'eider.yml',
    `${shown(old)} at ${index} becomes ${shown(by)}`,
    () => CONFIG.slice(0, index) + by + CONFIG.slice(index + old.length),
  )
}
