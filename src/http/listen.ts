// How a server starts to listen, and the errors when it cannot.

import { type AddressInfo, createServer, type Server } from 'node:net'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import { openFiles } from '../core/machine.ts'
import { listenProblem } from '../files/system-errors.ts'

export interface Address {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The flag that chooses the port, for the hint when it is busy. */
  readonly portFlag?: string
}

/**
 * How many connections a server may have, so that the files that it needs can be opened beside them, and so that all
 * processes that listen together have no more than one alone. Throws EnvironmentError `few-files`.
 */
export function mostConnections(files = openFiles(), processes = 1): number {
  if (files < limits.leastFiles)
    throw new EnvironmentError(
      'few-files',
      `this process may open ${files} files, and a server needs ${limits.leastFiles}`,
      { hint: 'raise the limit with ulimit -n, or LimitNOFILE= of systemd' },
    )
  return Math.min(
    Math.ceil(limits.connections / processes),
    Math.floor((files - limits.reservedFiles) / 2),
  )
}

/** For a service that has much to do before it listens. Throws as listen() does. */
export async function requireFreePort(address: Address): Promise<void> {
  await takeFreePort(address)
}

/** The port, or one that is free where that is 0. Throws as listen() does. */
export async function takeFreePort(address: Address): Promise<number> {
  const server = createServer()
  await listen(server, address)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
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
