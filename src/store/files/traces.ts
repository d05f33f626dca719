// Traces of deleted rows in a target of files. DuckDB keeps the bytes of a deleted row in its file until it writes something
// else there, so the file is made again from what is in it (rewrite.ts). The published states are the matter of the run
// before: it retains none but the newest.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ProjectPaths } from '../../core/project.ts'
import { removeLeftovers } from '../../files/owned-directory.ts'
import type { RunLease } from '../run-lease.ts'
import type { Traces, TracesOptions, TracesRemoved } from '../traces.ts'
import type { Warehouse } from '../warehouse.ts'
import { rewrite } from './rewrite.ts'
import { runCopies } from './run-results.ts'

export const fileTraces = (paths: ProjectPaths, lease: RunLease, warehouse: Warehouse): Traces => ({
  async remove(options) {
    await using _lease = await lease.take(options)
    const bytesRewritten = await rewrite(paths, warehouse, options)
    await options.onStep?.('rewritten')
    return { bytesRewritten, ...(await removeCopies(paths, options)) }
  },
})

/** Copies of runs may quote rows, and are made again; what engines have spilled goes with them, unless they live. */
async function removeCopies(
  { database, state }: ProjectPaths,
  { unreadable }: TracesOptions,
): Promise<Pick<TracesRemoved, 'filesRemoved' | 'left'>> {
  await rm(runCopies(state), { recursive: true, force: true })
  await rm(`${database}.tmp`, { recursive: true, force: true })
  const spilled = join(state, 'tmp')
  if (existsSync(spilled)) await removeLeftovers(spilled, '')
  const directory = dirname(database)
  const isTorn = (name: string) => name.startsWith(basename(database)) && name.includes('.torn')
  const torn = (await readdir(directory)).filter(isTorn).map((name) => join(directory, name))
  if (unreadable) for (const path of torn) await rm(path)
  const left = unreadable ? [] : torn
  return {
    filesRemoved: unreadable ? torn.length : 0,
    left: left.map((path) => ({
      what: path,
      next: 'look at it and delete it, or add --unreadable',
    })),
  }
}
