// Who may send events, as eider.yml and the environment say.

import type { Senders } from '../../collect/senders.ts'
import { DiagnosticsError } from '../../core/diagnostics.ts'
import type { Project } from '../../project/project.ts'

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
