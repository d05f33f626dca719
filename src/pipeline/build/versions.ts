// Which version a model has once it is built: the same as before only where its rows and its definition are.

import { hashOf } from '../../core/hash.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { sql } from '../../core/sql.ts'
import type { Slice, Step } from '../../core/step.ts'
import { withViews } from '../../core/with-views.ts'
import { printOf } from '../changes/row-prints.ts'
import { rebuiltAgain } from '../plan/volatile.ts'
import type { RunContext } from '../run-context.ts'
import type { Built } from './materialize/materialization.ts'

/**
 * The rows of a table that goes on depend on its previous contents, so each change gets a new version. So does
 * a model that was built although no known input changed.
 */
export function versionOf(
  { fullRefresh, runId, project }: RunContext,
  model: Model,
  fingerprint: string,
  slice: Slice = 'whole',
): string {
  const isAlways = rebuiltAgain(project, model) === 'always'
  const own = kinds[model.kind].keepsRows || isAlways || fullRefresh
  if (!own) return fingerprint
  return hashOf(16, slice === 'whole' ? [fingerprint, runId] : [fingerprint, runId, slice])
}

/** In the transaction that has built the step. `isByRows`: as `isKnownByRows` says. */
export async function versionAfter(
  context: RunContext,
  { model, slice }: Pick<Step, 'model' | 'slice'>,
  isByRows: boolean,
  fingerprint: string,
): Promise<string> {
  if (!isByRows) return versionOf(context, model, fingerprint, slice)
  const { print } = await printOf(context.connection, sql`FROM ${sql.relation(model.name)}`)
  // The first part is the definition, with the sample if there is one.
  return hashOf(16, [fingerprint.split('.')[0], print])
}

/**
 * What lies outside of the warehouse is read again on a mere suspicion. Where the rows of a table are those of before, it has
 * the version of before, so what reads it has nothing to do. Of what comes from other models their versions tell. `built`:
 * with counts where the table has gone on.
 */
export function isKnownByRows(
  { fullRefresh, project, store }: RunContext,
  model: Model,
  { counts }: Pick<Built, 'counts'>,
): boolean {
  // A full refresh also makes anew what has read a table that somebody has changed by hand. To read all of a table that
  // was only updated would cost more than the update.
  if (model.kind !== 'table' || fullRefresh || counts !== undefined) return false
  // The rows of a lake lie on another machine, and to read what was just written costs as much as to write it.
  return store.state.changes.keepsKeys && isOutside(project, model)
}

/** Whether it, or a view that it reads, reads something that no version tells of: files, sources, the time. */
const isOutside = (project: Pick<CompiledProject, 'models'>, model: Model): boolean =>
  withViews(project, model).some(
    ({ volatile, sources, files }) => volatile || sources.length + files.length > 0,
  )
