// A service follows its tokens in eider.yml and .env, so that one can be replaced without an outage, and says what an edit
// opens. One that was started without any takes none up: who may ask it is read at the start.

import type { ODataService } from '../odata/service.ts'
import type { Project } from '../project/project.ts'
import { ProjectWatch } from '../project/watch.ts'
import type { ReloadOptions } from './collect/reload.ts'
import { loadInTime, logMistakes } from './read-again.ts'
import { readerTokens } from './reader-tokens.ts'
import { warnOfWiderAccess } from './widened-access.ts'

/** Follows them until it is disposed of. Where the files have mistakes, the tokens stay as they are. */
export async function followTokens(
  started: Project,
  service: ODataService,
  { load, logger }: Pick<ReloadOptions, 'load' | 'logger'>,
): Promise<AsyncDisposable> {
  const hasTokens = started.readers.tokens.length > 0
  let known = ''
  let before = started
  const take = async () => {
    try {
      const project = await loadInTime(load)
      const tokens = hasTokens ? await readerTokens(project) : []
      const text = JSON.stringify(tokens)
      if (hasTokens && text !== known) await service.setTokens(tokens)
      warnOfWiderAccess('odata', before, project, logger, hasTokens)
      before = project
      if (text === known) return
      if (hasTokens && known !== '') logger.info('tokens-reloaded', { tokens: tokens.map(nameOf) })
      known = text
    } catch (error) {
      logMistakes(error, logger)
      if (hasTokens) logger.warn('tokens-stale', { hint: 'the previous tokens stay valid' })
    }
  }
  const watch = await ProjectWatch.open(started.paths.dir, { only: ['eider.yml', '.env'] })
  // What has changed since the service read them.
  await take()
  watch.onChange(take)
  return watch
}

const nameOf = ({ token }: Awaited<ReturnType<typeof readerTokens>>[number]): string => token.name
