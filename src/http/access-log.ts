// One line in the log for each answered request.

import type { Logger } from '../core/logger.ts'
import { whenAnswered } from './request-end.ts'
import { RequestError } from './request-error.ts'
import type { Handler } from './server.ts'

/** What is logged of requests whose sender has a name. */
const senders = new WeakMap<object, Readonly<Record<string, string>>>()

/** The line of the request, if there is one, has these fields too. */
export const logSender = (request: object, fields: Readonly<Record<string, string>>): void =>
  void senders.set(request, fields)

/** The handler, with a line `request` when its answer has gone out, or its client has left (`cut`). */
export function withAccessLog(logger: Logger, handle: Handler): Handler {
  return async (request, response) => {
    const { method, url, socket } = request
    const remote = socket.remoteAddress
    let code = {}
    whenAnswered(response, ({ status, ms, isCut }) => {
      const cut = isCut ? { cut: true } : {}
      const sender = senders.get(request)
      logger.info('request', { method, url, status, ...code, ms, remote, ...sender, ...cut })
    })
    try {
      await handle(request, response)
    } catch (error) {
      if (error instanceof RequestError) code = { code: error.code }
      throw error
    }
  }
}
