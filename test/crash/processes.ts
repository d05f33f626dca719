// The built daemon and the built run as processes that are killed; what their senders know; what must be in the table.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: crash\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL, batch INTEGER',
  'models/mart/counts.sql':
    '-- @kind: table\n-- @expose batch\nSELECT coalesce(batch, -1) AS batch, count(*)::INTEGER AS n FROM raw.events GROUP BY ALL',
}

export const crashProject = (): Promise<Workspace> => workspace(files)

/** `<before|after> <n>`, see mortal.ts; null: it lives until it has done its work or is stopped. */
export type Death = string | null
export type Disk = 'volatile' | 'lying' | null

export interface Process {
  /** Of the daemon, once it listens; null when it has ended before. */
  readonly urls: Promise<{ readonly url: string; readonly admin_url: string } | null>
  /** All that it has printed: with --json, results and failures are on stdout. */
  readonly output: () => string
  /** How it ended: `SIGKILL` where it was killed, else its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>
  kill(signal: NodeJS.Signals): void
}

const preload = fileURLToPath(new URL('./mortal.js', import.meta.url))

export function startProcess(
  space: Workspace,
  command: readonly string[],
  {
    death = null,
    disk = null,
    env: more = {},
  }: {
    readonly death?: Death
    readonly disk?: Disk
    readonly env?: Readonly<Record<string, string>>
  } = {},
): Process {
  const { command: node, args, env } = eiderProcess([...command, '--json'], more)
  const faults = { ...(death && { EIDER_DEATH: death }), ...(disk && { EIDER_DISK: disk }) }
  const child: ChildProcess = spawn(node, ['--import', preload, ...args], {
    cwd: space.dir,
    env: { ...env, ...faults },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  child.stderr!.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()))
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  const listening = new Promise<{ url: string; admin_url: string }>((resolve) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      text.stdout += chunk.toString()
      const line = text.stdout.split('\n').find((part) => part.includes('"listening"'))
      if (line !== undefined) resolve(JSON.parse(line) as { url: string; admin_url: string })
    })
  })
  return {
    urls: Promise.race([listening, ended.then(() => null)]),
    output: () => text.stdout + text.stderr,
    ended,
    kill: (signal) => void child.kill(signal),
  }
}

export const startDaemon = (space: Workspace, death: Death = null, disk: Disk = null): Process =>
  startProcess(space, ['collect', 'daemon', '--port', '0', '--admin-port', '0', '--quiet'], {
    death,
    disk,
  })

/** `adminUrl`: of the daemon that has the buffer; null where none has. */
export const startRun = (
  space: Workspace,
  adminUrl: string | null,
  death: Death = null,
): Process => {
  const env = adminUrl === null ? {} : { COLLECT_ADMIN_PORT: new URL(adminUrl).port }
  return startProcess(space, ['run', '--quiet'], { death, env })
}

interface Request {
  readonly ids: readonly number[]
  answer: 'accepted' | 'refused' | 'none'
}

/** Sends single events and batches, of which some are refused, and remembers what it was told. */
export class Sender {
  readonly requests: Request[] = []
  #next = 1

  /** Some requests at a time, until all are sent or the daemon is gone. */
  async send(url: string, requests: number): Promise<void> {
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      for (let i = lane; i < requests; i += 4) if (!(await this.#request(url, i))) return
    })
    await Promise.all(lanes)
  }

  async #request(url: string, i: number): Promise<boolean> {
    const size = i % 3 === 2 ? 3 : 1
    const request: Request = {
      ids: Array.from({ length: size }, () => this.#next++),
      answer: 'none',
    }
    this.requests.push(request)
    const events: { id: number | string; batch?: number }[] = request.ids.map((id) => ({
      id,
      ...(size > 1 && { batch: request.ids[0]! }),
    }))
    if (i % 6 === 5) events[2]!.id = 'no number'
    try {
      const answer = await fetch(`${url}/collect/raw/events${size > 1 ? '/batch' : ''}`, {
        method: 'POST',
        body: JSON.stringify(size > 1 ? events : events[0]),
        headers: { 'Content-Type': 'application/json' },
      })
      request.answer = answer.status === 202 ? 'accepted' : 'refused'
      await answer.arrayBuffer()
      return true
    } catch {
      return false // it may or may not have been stored; as a whole, and never twice
    }
  }

  ids(answer: Request['answer']): readonly number[] {
    return this.requests.filter((request) => request.answer === answer).flatMap(({ ids }) => ids)
  }
}

interface Wrong {
  readonly lost: readonly number[]
  readonly doubled: readonly number[]
  /** Refused, or never sent. */
  readonly invented: readonly number[]
  /** First ids of batches that are there in part. */
  readonly torn: readonly number[]
}

export const nothingWrong: Wrong = { lost: [], doubled: [], invented: [], torn: [] }

/** What is wrong with the table, after the last run. */
export async function findWrong(space: Workspace, sender: Sender): Promise<Wrong> {
  const path = space.path('.eider/warehouse.duckdb')
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`SELECT id::INTEGER AS id, count(*)::INTEGER AS n FROM raw.events GROUP BY id ORDER BY id`,
  )
  const stored = new Set(rows.map(({ id }) => id as number))
  const sent = new Set([...sender.ids('accepted'), ...sender.ids('none')])
  const isTorn = ({ ids }: Request) =>
    ids.some((id) => stored.has(id)) && !ids.every((id) => stored.has(id))
  return {
    lost: sender.ids('accepted').filter((id) => !stored.has(id)),
    doubled: rows.filter(({ n }) => n !== 1).map(({ id }) => id as number),
    invented: [...stored].filter((id) => !sent.has(id)),
    torn: sender.requests.filter(isTorn).map(({ ids }) => ids[0]!),
  }
}
