// The relay to a database server: bytes pass, and a server that owes an answer is cut off.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ServerRelay } from '../../src/duckdb/server-relay.ts'

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

/** All that comes until the connection ends; says each of `words` when something has come. */
function talk(port: number, words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const left = [...words]
    let heard = ''
    const say = () => {
      const word = left.shift()
      if (word !== undefined) socket.write(word)
    }
    socket.on('connect', say)
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      say()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(heard))
  })
}

async function served(answer: (socket: Socket, word: string) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.on('data', (chunk) => answer(socket, chunk.toString()))
  })
  const port = await listening(server)
  const relay = await ServerRelay.open({ host: '127.0.0.1', port, connectMs: 300, answerMs: 300 })
  return {
    relay,
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('bytes pass both ways, and the end of one side is that of the other', async () => {
  await using server = await served((socket, word) => {
    if (word === 'bye') socket.end('gone')
    else socket.write(word.toUpperCase())
  })
  assert.is(await talk(server.relay.port, ['hello', 'bye']), 'HELLOgone')
  assert.is(server.relay.takeProblem(), null)
})

test('a server that says nothing is cut off, at first and later on', async () => {
  await using server = await served((socket, word) => {
    if (word === 'hello') socket.write('welcome')
  })
  assert.is(await talk(server.relay.port, ['silence']), '')
  assert.equal(server.relay.takeProblem(), { is: 'silent-from-the-start', ms: 300 })
  assert.is(await talk(server.relay.port, ['hello', 'a question']), 'welcome')
  assert.equal(server.relay.takeProblem(), { is: 'silent', ms: 300 })
  assert.is(server.relay.takeProblem(), null, 'it is told once')
})

test('a connection that owes nothing is left alone however long it is idle', async () => {
  await using server = await served((socket, word) => {
    socket.write(word)
    if (word === 'hello') setTimeout(() => socket.end('late'), 900)
  })
  assert.is(await talk(server.relay.port, ['hello']), 'hellolate')
  assert.is(server.relay.takeProblem(), null)
})

test('why a server cannot be reached is known', async () => {
  const closed = createServer()
  const port = await listening(closed)
  await new Promise((resolve) => closed.close(resolve))
  const options = { connectMs: 2_000, answerMs: 300 }
  await using refused = await ServerRelay.open({ host: '127.0.0.1', port, ...options })
  assert.is(await talk(refused.port, ['hello']), '')
  assert.equal(refused.takeProblem(), { is: 'refused' })
})

test.run()
