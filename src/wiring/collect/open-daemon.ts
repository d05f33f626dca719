// The daemon of a project, by its settings, and who may send events to it.

import type { EventBuffer } from '../../buffer/buffer.ts'
import { CollectDaemon, type CollectDaemonOptions } from '../../collect/daemon.ts'
import type { Senders } from '../../collect/senders.ts'
import { DiagnosticsError } from '../../core/diagnostics.ts'
import type { Project } from '../../project/project.ts'
import { readUpState } from '../../supervisor/state-file.ts'

export async function openDaemon(
  project: Project,
  buffer: EventBuffer,
  targets: CollectDaemonOptions['targets'],
  more: Pick<CollectDaemonOptions, 'allowAnonymous' | 'logger'>,
): Promise<CollectDaemon> {
  const { paths, settings } = project
  return await CollectDaemon.open({
    ...(await sendersOf(project, targets.keys())),
    buffer,
    bufferDir: paths.buffer,
    targets,
    host: settings['collect.host'],
    port: settings['collect.port'],
    adminPort: settings['collect.admin_port'],
    token: settings['collect.token'],
    maxEventBytes: settings['collect.max_event_bytes'],
    maxBatchBytes: settings['collect.max_batch_bytes'],
    corsOrigins: settings['collect.cors_origins'],
    acceptTextPlain: settings['collect.accept_text_plain'],
    accessLog: settings['collect.access_log'],
    lastRun: () => lastRun(paths.state),
    ...more,
  })
}

async function lastRun(stateDir: string) {
  const state = await readUpState(stateDir)
  const ended = (state?.runs ?? []).flatMap(({ last }) => (last === null ? [] : [last]))
  const [last] = ended.toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))
  return last === undefined ? null : { last: last.status, at: last.started_at }
}

/** Throws DiagnosticsError for secrets that are not set, and for names that no events model has. */
export async function sendersOf(
  project: Project,
  targets: Iterable<string>,
): Promise<Pick<Senders, 'named' | 'signed'>> {
  const { senders, signedSenders, secrets } = project
  if (senders.tokens.length === 0 && signedSenders.length === 0) return { named: [], signed: [] }
  const [{ tokensInForce }, { signedSendersInForce }, { senderMistakes }] = await Promise.all([
    import('../../project/tokens.ts'),
    import('../../project/signed-senders.ts'),
    import('../../project/sender-mistakes.ts'),
  ])
  const mistakes = senderMistakes(project, [...targets])
  if (mistakes.length > 0) throw new DiagnosticsError(mistakes)
  return {
    named: tokensInForce(senders, secrets),
    signed: signedSendersInForce(signedSenders, secrets),
  }
}
