// What a run has left, or seen when it found nothing to do, so that the next one knows without the engine that there is
// nothing to do:
// `.eider/idle.json`, an object with a key of all that such a run depends on. Every doubt is another key, or no note:
//
//   texts of the project, variables, settings, eider   by content, in the identity of the compiled project
//   data files that models read                        by stamp, if by the time of the run they had been left alone for
//                                                      limits.racyMs; none whose name is a pattern or a URL
//   the warehouse and its log                          by stamp, taken while the engine still had its lock on them
//   published files and manifests                      by stamp, when none of them can become too old
//
// There is no note of a project with sources, volatile models or extensions, and none of a lake.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { ModelResult, Orphan } from '../../core/report/progress.ts'
import { bindingsVersion } from '../../duckdb/bindings-version.ts'
import { replaceDurably } from '../../files/durable-files.ts'
import { buildStamp } from '../../files/package.ts'
import { type Stamp, stampOf } from '../../files/stamps.ts'
import { lastStateFile } from '../../store/files/run-copies.ts'
import { stampSnapshots } from '../../store/files/snapshot-directory.ts'
import type { Retention } from '../../store/snapshots.ts'
import { hasMove } from '../move-record.ts'

const FORMAT = 2

export interface IdleNote {
  readonly format: number
  readonly key: string
  readonly run: string
  readonly models: readonly ModelResult[]
  readonly snapshot: string
  readonly orphans: readonly Orphan[]
  /** The last limits.copiedRuns runs that the warehouse has a record of, newest first. */
  readonly recorded: readonly string[]
  /** Data files that models read: name, stamp, hash of the content. */
  readonly files: readonly (readonly [name: string, stamp: string, hash: string])[]
}

/** What a run is asked to do, as far as settings and the target say so. */
export interface IdleScope {
  readonly paths: ProjectPaths
  readonly retention: Retention
  /** Of all settings in force. */
  readonly settings: string
}

const pathOf = ({ state }: ProjectPaths): string => join(state, 'idle.json')

/** null: there is none, or it cannot be read. */
export async function readIdleNote({ paths }: IdleScope): Promise<IdleNote | null> {
  try {
    const note = JSON.parse(await readFile(pathOf(paths), 'utf8')) as IdleNote
    return note.format === FORMAT ? note : null
  } catch {
    return null
  }
}

/** Hashes of the data files that are as they were. */
export const knownHashes = (
  { files }: IdleNote,
  { paths }: IdleScope,
): ReadonlyMap<string, string> =>
  new Map(
    files
      .filter(([name, stamp]) => stampOf(resolve(paths.dir, name))?.text === stamp)
      .map(([name, , hash]) => [name, hash]),
  )

/** null: something may be left to do. */
async function keyOf(
  scope: IdleScope,
  project: CompiledProject,
  files: readonly Stamp[],
): Promise<string | null> {
  const target = await stampTarget(scope)
  return target === null ? null : combine(scope, project, files, target.text)
}

/** Whether all is as it was noted. Where something depends on it, call it again under the run lock. */
export async function isSame(
  { key }: IdleNote,
  scope: IdleScope,
  project: CompiledProject,
): Promise<boolean> {
  const files = stampFiles(scope, project)
  return files !== null && (await keyOf(scope, project, files)) === key
}

/** null: a model reads what no stamp tells of. */
function stampFiles(
  { paths }: Pick<IdleScope, 'paths'>,
  { models, external, failed, identity }: CompiledProject,
): readonly Stamp[] | null {
  const all = [...models.values()]
  if (identity === undefined || external !== undefined || failed.size > 0) return null
  if (all.some((model) => model.volatile)) return null
  if (all.some(({ kind, files, source }) => kind === 'seed' && !files.includes(source.path)))
    return null
  const names = namesOf(all)
  if (names.some((name) => /[*?[{]|^~|:/.test(name))) return null
  const stamps = names.map((name) => stampOf(resolve(paths.dir, name)))
  return stamps.every((stamp) => stamp !== null) ? stamps : null
}

const namesOf = (models: readonly { readonly files: readonly string[] }[]): readonly string[] =>
  [...new Set(models.flatMap(({ files }) => files))].toSorted()

export interface Found extends Omit<IdleNote, 'format' | 'key' | 'files'> {
  /** Whether the run itself has written what is published, under its lock. */
  readonly isPublished: boolean
}

/** Of a run that goes on: what it will have seen. */
export interface IdleDraft {
  /**
   * Call it before the warehouse is closed and after the last change of it, and the returned function when it is closed.
   * `meanwhile` is waited for.
   */
  hold(
    found: Found,
    hashes: ReadonlyMap<string, string>,
    meanwhile: Promise<unknown>,
  ): Promise<() => Promise<void>>
}

/** Call it before the run reads any data; null: nothing can be noted of this project. */
export function draftIdleNote(scope: IdleScope, project: CompiledProject): IdleDraft | null {
  const untouchedSinceMs = Date.now() - limits.racyMs
  const files = stampFiles(scope, project)
  if (files === null || files.some(({ changedMs }) => changedMs > untouchedSinceMs)) return null
  const names = namesOf([...project.models.values()])
  return {
    async hold({ isPublished, ...found }, hashes, meanwhile) {
      // What is written after the engine lets go has a later time.
      await Promise.all([sleep(limits.clockTickMs), meanwhile])
      const before = await stampTarget(scope)
      return async () => {
        const target = await stampTarget(scope)
        if (before === null || target?.text !== before.text) return
        if (!isPublished && target.changedMs > untouchedSinceMs) return
        if (!names.every((name) => hashes.has(name))) return
        const key = combine(scope, project, files, target.text)
        const known = names.map((name, i) => [name, files[i]!.text, hashes.get(name)!] as const)
        const note: IdleNote = { format: FORMAT, key, ...found, files: known }
        await replaceDurably(pathOf(scope.paths), `${JSON.stringify(note)}\n`)
      }
    },
  }
}

const combine = (
  { settings, paths }: IdleScope,
  project: CompiledProject,
  files: readonly Stamp[],
  target: string,
): string =>
  hashOf(32, [
    [FORMAT, buildStamp(), bindingsVersion(), process.version],
    [settings, paths],
    project.identity,
    files.map(({ text }) => text),
    target,
  ])

/** Of all that a run finds in the target; null: it has more to do there. `changedMs` is about what is published. */
async function stampTarget({ paths, retention }: IdleScope): Promise<Stamp | null> {
  const { database, snapshots, state } = paths
  if (hasMove(paths)) return null
  const log = `${database}.wal`
  const files = [database, lastStateFile(state), ...(existsSync(log) ? [log] : [])]
  const stamps = files.map(stampOf)
  const published = await stampSnapshots(snapshots, retention).catch(() => null)
  if (published === null || !stamps.every((stamp) => stamp !== null)) return null
  return {
    text: [...stamps.map(({ text }) => text), published.text].join('\n'),
    changedMs: published.changedMs,
  }
}
