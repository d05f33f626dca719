// A Unix socket in a directory that a process listens on for as long as it lives. The kernel ends the listening with
// the process, however that dies, so a process that connects learns whether it is there: also from another container on
// the same kernel that shares the directory, where a pid means nothing. From another machine every socket looks dead.

import { randomBytes } from 'node:crypto'
import { createServer, connect } from 'node:net'
import { basename, dirname, join } from 'node:path'

/** The address of a Unix socket has 108 bytes, and a longer one is cut silently: then it is another file's. */
const MAX_PATH_BYTES = 100

/** Listens next to `path`, under the name that it returns. null where that cannot be done: not on Linux, or on such a disk. */
export async function openLifeSign(path: string) {
  const sign = `${path}.${randomBytes(4).toString('hex')}.alive`
  if (process.platform !== 'linux' || Buffer.byteLength(sign) > MAX_PATH_BYTES) return null
  const server = createServer((socket) => socket.destroy())
  const isListening = await new Promise<boolean>((resolve) => {
    // Also for those that come later, such as too many open files: then no connection is accepted, and that is all.
    server.on('error', () => resolve(false))
    server.listen(sign, () => resolve(true))
  })
  if (!isListening) return null
  server.unref() // the process does not live on for it
  return {
    name: basename(sign),
    // Removes the socket file too.
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

export const lifeSignPath = (lockPath: string, name: string): string =>
  join(dirname(lockPath), basename(name))

/**
 * Whether nobody listens any more. false also when that cannot be determined: the file is gone, or may not be used, or
 * its path is too long here, where the directory may have a longer one than in the container of the holder.
 */
export async function isSilent(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return false
  return await new Promise((resolve) => {
    const socket = connect(path)
    const end = (silent: boolean) => {
      socket.destroy()
      resolve(silent)
    }
    socket.once('connect', () => end(false))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
  })
}
