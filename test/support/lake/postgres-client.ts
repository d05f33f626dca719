// SQL as the superuser of the test server, over its socket, where it asks for no password. One connection for each call.

import { connect } from 'node:net'
import { join } from 'node:path'
import type { LakeServers } from './servers.ts'
import { superuser } from './servers.ts'

const PROTOCOL = 196_608

/** The rows of all statements of `text`, which PostgreSQL takes as one transaction; values are texts or null. */
export async function asSuperuser(
  { directory, postgresPort }: LakeServers,
  database: string,
  text: string,
): Promise<readonly (readonly (string | null)[])[]> {
  const socket = connect(join(directory, `.s.PGSQL.${postgresPort}`))
  const rows: (readonly (string | null)[])[] = []
  let failure: Error | null = null
  let isReady = false
  try {
    const startup = Buffer.from(`user\0${superuser.user}\0database\0${database}\0\0`)
    socket.write(Buffer.concat([int32(8 + startup.length), int32(PROTOCOL), startup]))
    let left = Buffer.alloc(0)
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      left = Buffer.concat([left, chunk])
      while (left.length >= 5 && left.length > left.readInt32BE(1)) {
        const end = left.readInt32BE(1) + 1
        const kind = String.fromCharCode(left[0]!)
        const body = left.subarray(5, end)
        left = left.subarray(end)
        if (kind === 'D') rows.push(rowOf(body))
        if (kind === 'E') failure = new Error(`PostgreSQL: ${messageOf(body)}\n${text}`)
        if (kind !== 'Z') continue
        if (isReady) {
          if (failure !== null) throw failure
          return rows
        }
        isReady = true
        const query = Buffer.from(`${text}\0`)
        socket.write(Buffer.concat([Buffer.from('Q'), int32(4 + query.length), query]))
      }
    }
    throw failure ?? new Error('PostgreSQL has closed the connection')
  } finally {
    socket.destroy()
  }
}

function rowOf(body: Buffer): readonly (string | null)[] {
  let at = 2
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at)
    at += 4
    if (length < 0) return null
    at += length
    return body.toString('utf8', at - length, at)
  })
}

/** Fields of an error: a letter, a text, NUL. M is the message. */
function messageOf(body: Buffer): string {
  const fields = body.toString('utf8').split('\0')
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'an error without a message'
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
