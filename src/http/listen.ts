// How a server starts to listen, and the errors when it cannot.

import { createServer, type Server } from 'node:net'
import { EnvironmentError } from '../core/failures.ts'
import { listenProblem } from '../files/system-errors.ts'

export interface Address {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The flag that chooses the port, for the hint when it is busy. */
  readonly portFlag?: string
}

/** For a service that has much to do before it listens. Throws as listen() does. */
export async function requireFreePort(address: Address): Promise<void> {
  const server = createServer()
  await listen(server, address)
  await new Promise((resolve) => server.close(resolve))
}

/** Throws EnvironmentError `port-busy` or `cannot-listen`. */
export function listen(
  server: Server,
  { host, port, portFlag = '--port' }: Address,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const { problem, hint } =
        cause.code === 'EADDRINUSE'
          ? {
              problem: `port ${port} on ${host} is in use by another process`,
              hint: `stop that process, or choose another port with ${portFlag}`,
            }
          : listenProblem(cause, host, port)
      const code = cause.code === 'EADDRINUSE' ? 'port-busy' : 'cannot-listen'
      reject(new EnvironmentError(code, problem, hint === undefined ? { cause } : { cause, hint }))
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}
