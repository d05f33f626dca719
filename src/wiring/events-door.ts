// Events of a test of a model, as the daemon takes them: judged by the same rules, kept in a buffer of the test.

import { join } from 'node:path'
import { EventBuffer } from '../buffer/buffer.ts'
import { readEvent } from '../collect/read/read-events.ts'
import { createValidator, type Validator } from '../collect/validate/validate-event.ts'
import { createLogger } from '../core/logger.ts'
import type { EventsModel } from '../core/model.ts'
import { RequestError } from '../http/request-error.ts'
import type { EventsDoor } from '../pipeline/model-test/post-events.ts'
import type { Project } from '../project/project.ts'

export function eventsDoor({ settings }: Project, stateDir: string): EventsDoor {
  const validators = new Map<EventsModel, Validator>()
  return {
    judge(model, text) {
      const validator = validators.get(model) ?? createValidator(model)
      validators.set(model, validator)
      try {
        const maxEventBytes = settings['collect.max_event_bytes']
        const [stored] = readEvent(validator, Buffer.from(text), maxEventBytes)
        return { stored: stored! }
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        return { code: error.code, column: error.target ?? null, reason: error.message }
      }
    },
    async claims(model, events, receivedAt) {
      const buffer = await EventBuffer.open({
        dir: join(stateDir, 'buffer'),
        lockFile: join(stateDir, 'collect.lock'),
        maxBufferBytes: settings['collect.max_buffer_bytes'],
        logger: createLogger(() => {}),
      })
      await buffer.append(model.name, events, receivedAt.toISOString())
      return buffer
    },
  }
}
