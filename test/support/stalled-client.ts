// A client that asks and does not read.

import { connect, type Socket } from 'node:net'
import type { Resources } from '../../src/core/resources.ts'
import type { Served } from './odata-service.ts'

/** A client that asks and never reads; closed with `resources`. */
export function openStalled(
  resources: Resources,
  served: Served,
  path: string,
  header = '',
): Socket {
  const { hostname, port } = new URL(served.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET /odata/${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`)
  resources.defer(() => void socket.destroy())
  return socket
}
