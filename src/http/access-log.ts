// One line in the log for each answered request.

import type { Logger } from '../core/logger.ts'
import type { Handler } from './server.ts'

/** The handler, with a line `request` when its answer has gone out, or its client has left (`cut`). */
export function withAccessLog(logger: Logger, handle: Handler): Handler {
  return (request, response) => {
    const startedMs = performance.now()
    const { method, url, socket } = request
    const remote = socket.remoteAddress
    response.once('close', () => {
      const ms = Math.round((performance.now() - startedMs) * 100) / 100
      const cut = response.writableFinished ? {} : { cut: true }
      logger.info('request', { method, url, status: response.statusCode, ms, remote, ...cut })
    })
    return handle(request, response)
  }
}
