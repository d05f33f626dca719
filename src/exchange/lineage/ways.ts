// How events of lineage go out. A way that is missing here does not compile.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { limits } from '../../core/limits.ts'
import { postJson } from '../../core/post-json.ts'
import { requireRegular } from '../../files/read-file.ts'

export type LineageWay = 'collector' | 'file'

/** Sends one event, as JSON. */
type Send = (event: string, signal: AbortSignal) => Promise<Sent>

export interface Sent {
  /** null: it has arrived. It has no part of a URL, which may be a secret. */
  readonly problem: string | null
  /** Nobody is there: the next one would be lost too. */
  readonly isDead: boolean
}

export interface EventWay {
  readonly send: Send
  /** Events that are under way at a time. */
  readonly lanes: number
}

interface LineageRecipient {
  /** A URL, or a path. */
  readonly to: string
  readonly token: string | null
}

export const ways: Readonly<Record<LineageWay, (recipient: LineageRecipient) => EventWay>> = {
  collector: ({ to, token }) => ({
    lanes: limits.lineageLanes,
    send: (event, signal) => post(to, event, token, signal),
  }),
  // One after the other, so that no line is torn by another one.
  file: ({ to }) => ({ lanes: 1, send: (event) => append(to, event) }),
}

const ARRIVED: Sent = { problem: null, isDead: false }

async function post(
  url: string,
  event: string,
  token: string | null,
  signal: AbortSignal,
): Promise<Sent> {
  const posting = { timeoutMs: limits.lineageTimeoutMs, signal, token }
  const { status, answer } = await postJson(url, event, posting)
  if (status >= 200 && status < 300) return ARRIVED
  return { problem: answer, isDead: status === 0 }
}

/** Without O_NONBLOCK the system waits until somebody reads a pipe. Windows has no such flag, and no such pipes. */
const { O_APPEND, O_CREAT, O_WRONLY } = constants
const FLAGS = O_APPEND | O_CREAT | O_WRONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0)

async function append(path: string, event: string): Promise<Sent> {
  try {
    await using file = await open(path, FLAGS)
    requireRegular(await file.stat(), path)
    await file.appendFile(event + '\n')
    return ARRIVED
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    // A pipe that nobody reads cannot be opened.
    const isIrregular = code === 'NOTREG' || code === 'ENXIO'
    return { problem: isIrregular ? 'it is not a regular file' : code, isDead: true }
  }
}
