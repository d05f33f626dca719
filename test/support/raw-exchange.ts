// What a server says to exactly these bytes, in a form in which two servers can be compared.

import { connect } from 'node:net'
import { limits } from '../../src/core/limits.ts'

interface Heard {
  readonly text: string
  readonly isReset: boolean
}

/** All that comes back for the pieces; the client ends its side behind them. */
export async function say(url: string, pieces: readonly Buffer[]): Promise<Heard> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
  let [text, isReset] = ['', false]
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.on('error', () => (isReset = true))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  socket.end()
  await closed
  return { text, isReset }
}

/**
 * Answers without what differs from one moment to the next, their headers by name. A connection goes on behind a large
 * body that is refused when that has come by then, and the time it has depends on the requests before it.
 */
export function shown(text: string, sentBytes: number): readonly string[] {
  const isChance = sentBytes > limits.drainBytes ? /^(?:Connection|Keep-Alive): / : /^$/
  return text.split(/(?<=^|\}|\r\n\r\n)(?=HTTP\/1\.1 )/).map((answer) => {
    const end = answer.indexOf('\r\n\r\n')
    const [line, ...headers] = answer.slice(0, end).split('\r\n')
    // Whether somebody had looked at its head when the body turned out to be malformed is chance as well.
    const isMalformed = answer.includes('"malformed HTTP request"')
    const sorted = headers
      .filter((header) => !isChance.test(header))
      .filter((header) => !isMalformed || !header.startsWith('Access-Control-'))
      .map((header) => header.replace(/^Date: .*/, 'Date'))
      .toSorted()
    return [line, ...sorted, answer.slice(end + 4)].join('\n')
  })
}
