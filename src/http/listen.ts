// How a server begins to listen, and what is said when it cannot.

import type { Server } from 'node:net'
import { EnvironmentError } from '../core/failures.ts'

interface Address {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The flag that chooses the port, for the hint when it is busy. */
  readonly portFlag?: string
}

/** Throws EnvironmentError `port-busy` or `cannot-listen`. */
export function listen(
  server: Server,
  { host, port, portFlag = '--port' }: Address,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const [code, message] =
        cause.code === 'EADDRINUSE'
          ? ['port-busy', `port ${port} on ${host} is in use by another process`]
          : ['cannot-listen', `cannot listen on ${host}:${port}: ${cause.message}`]
      const hint = `stop that process, or choose another port with ${portFlag}`
      reject(
        new EnvironmentError(code, message, { cause, ...(code === 'port-busy' ? { hint } : {}) }),
      )
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}
