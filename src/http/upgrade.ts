// Requests that wish for another protocol on their connection. None is spoken here, and a server may ignore the wish
// (RFC 9110, section 7.8); but node:http drops what came after such a request in the same packet, and reads on in the
// middle of it. So the request goes back into its socket without the wish, and is read once more.

import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** `rest` is what came after the head. From here on the socket is not node:http's, and nobody reads it. */
export function unreadUpgrade(request: IncomingMessage, socket: Socket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade')
      head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  // The answers before it resume the socket, which would drop what nobody listens for.
  socket.on('resume', stayPaused)
  socket.pause()
  socket.unshift(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), rest]))
}

/** Gives the socket to node:http again, in another turn of the loop, as many such requests may follow one another. */
export function readAsNew(server: Server, socket: Socket): void {
  setImmediate(() => {
    if (!socket.writable) return
    // Of its listeners node:http has taken off all but this one.
    socket.removeAllListeners('timeout')
    socket.off('resume', stayPaused)
    server.emit('connection', socket)
    socket.resume()
  })
}

function stayPaused(this: Socket): void {
  this.pause()
}
