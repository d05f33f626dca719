// A fast front by itself, without node:http behind it: what it would hand over is cut off.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fastFront } from '../../src/http/fast/post-front.ts'
import type { Front, PostRoute } from '../../src/http/head.ts'
import { RequestError } from '../../src/http/request-error.ts'

interface OpenFront extends Disposable {
  readonly front: Front
  readonly url: string
}

/** Every request has this route. */
export async function openFront(route: PostRoute): Promise<OpenFront> {
  const front = fastFront({ routeOf: () => route, changing: [], status: 202, answerHeaders: {} })({
    toRefusal: (cause) => new RequestError(500, 'internal-error', String(cause)),
    handOver: (socket) => socket.destroy(),
    refuseBroken: (socket) => socket.destroy(),
  })
  front.listener.listen(0, '127.0.0.1')
  await once(front.listener, 'listening')
  const { port } = front.listener.address() as AddressInfo
  return {
    front,
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      front.stop()
      front.closeAll()
      front.listener.close()
    },
  }
}
