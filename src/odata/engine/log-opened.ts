// What is logged when a snapshot is opened.

import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { OpenSnapshot } from './open-snapshot.ts'

/** Keys that the line names; a project with so many of them has the same reason for all. */
const NAMED = 10

export function logOpened(
  logger: Logger,
  { snapshot, model }: OpenSnapshot,
  startedAtMs: number,
): void {
  logger.info('snapshot-opened', {
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: Date.now() - startedAtMs,
  })
  if (model.sharedKeys.length === 0) return
  logger.warn('navigation-left-out', {
    snapshot: snapshot.id,
    keys: model.sharedKeys.slice(0, NAMED).map(({ name, sets }) => `${name} of ${sets} sets`),
    more: Math.max(0, model.sharedKeys.length - NAMED),
    hint: `more than ${limits.setsOfOneKey} sets have this key: only those whose table is named after it are led to`,
  })
}
