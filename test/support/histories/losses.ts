// Rows that go: those that an erasure means, and those that somebody deletes in the warehouse and publishes.

import * as assert from 'uvu/assert'
import { parseCondition } from '../../../src/compiler/condition.ts'
import type { CompiledProject } from '../../../src/core/model.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { eraseRows, type EraseRequest } from '../../../src/pipeline/erase/erase.ts'
import { reachOf } from '../../../src/pipeline/erase/reach.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { modelName } from '../model-name.ts'
import type { TestProject } from '../pipeline-project.ts'
import { publishByHand } from '../publish-by-hand.ts'
import { type Event, GUARD } from './history.ts'

/** The same rows, of a table of events and of events that were sent. */
export interface Meant {
  readonly text: string
  readonly rows: Sql
  readonly isMeant: (event: Event) => boolean
}

export function meantRows(below: (end: number) => number): Meant {
  const id = below(13)
  const least = 30 + below(70)
  const day = `2026-03-${String(2 + below(20)).padStart(2, '0')}`
  const all: readonly Meant[] = [
    { text: `id = ${id}`, rows: sql`id = ${sql.value(id)}`, isMeant: (event) => event.id === id },
    {
      text: `amount > ${least}`,
      rows: sql`amount > ${sql.value(least)}`,
      isMeant: ({ amount }) => amount > least,
    },
    {
      text: `day = DATE '${day}' AND id < ${GUARD}`,
      rows: sql`day = ${sql.value(day)} AND id < ${sql.value(GUARD)}`,
      isMeant: (event) => event.day === day && event.id < GUARD,
    },
  ]
  return all[below(all.length)]!
}

interface Erasing {
  readonly request: Omit<RunRequest, 'project' | 'openClaims'> & Pick<EraseRequest, 'openClaims'>
  readonly project: CompiledProject
  readonly name: string
  readonly text: string
  /** After so many of its steps it ends, as by an error; null: never. */
  readonly endsAfter: number | null
}

interface Erased {
  readonly isDone: boolean
  /** Tables that it cannot reach, and says so once it is done. */
  readonly unreached: readonly string[]
}

export async function erase(erasing: Erasing): Promise<Erased> {
  const { request, project, name, text } = erasing
  const model = project.models.get(modelName(name))!
  const condition = await parseCondition(text, model, undefined)
  const reach = reachOf(project, model, condition.columns)
  const unreached = reach.unreached.map(({ name: one }) => one)
  let left = erasing.endsAfter
  const onStep = () => {
    if (left !== null && left-- === 0) throw new EndedEarly()
  }
  const asked = { all: true, unreadable: false, rewrite: false, damaged: [] }
  // The clock of the history is one for the run in it, too.
  const whole = { ...request, ...asked, project, model, condition, reach, onStep }
  try {
    const { unfinished, left: named } = await eraseRows(whole)
    assert.is(unfinished, null)
    const isNamed = (one: string) => named.some(({ what }) => what.startsWith(`${one} `))
    return { isDone: true, unreached: unreached.filter(isNamed) }
  } catch (error) {
    if (error instanceof EndedEarly) return { isDone: false, unreached }
    throw error
  }
}

class EndedEarly extends Error {}

interface Deleting {
  readonly name: string
  /** null: some. */
  readonly meant: Meant | null
}

/** Returns how many have gone, by names. */
export async function deleteByHand(
  space: TestProject,
  request: Omit<RunRequest, 'project' | 'openClaims'>,
  project: CompiledProject,
  losses: readonly Deleting[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { name, meant } of losses) {
    const rows = sql`${sql.relation(name)} WHERE ${meant?.rows ?? sql`rowid % 3 = 1`}`
    const [row] = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM ${rows}`)
    await space.alter(sql`DELETE FROM ${rows}`)
    counts.set(name, row!['n'] as number)
  }
  await publishByHand(
    request,
    project,
    losses.map(({ name }) => name),
  )
  return counts
}
