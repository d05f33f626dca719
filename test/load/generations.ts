// A project of which each run publishes another generation, and clients that know what a whole answer of one is. In a
// generation `g` both models have 1,000 + g rows, and each row says g.

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

/** EIDER_LOAD=all: as long and as much as the project promises, in minutes. */
export const isLong = process.env['EIDER_LOAD'] === 'all'

const ROWS = 1_000
const model = (text: string) =>
  `-- @kind: table\n-- @expose id\nSELECT i::INTEGER AS id, CAST(\${generation} AS INTEGER) AS generation, '${text} ' || i AS text FROM range(${ROWS} + \${generation}) AS r(i)`

export const generationsProject = (retainedSnapshots = 3): Promise<Workspace> =>
  workspace({
    'eider.yml': `name: load\nvars:\n  generation: 1\nodata:\n  keep_snapshots: ${retainedSnapshots}\n  keep_minutes: 0\n`,
    'models/mart/some.sql': model('some'),
    'models/mart/more.sql': model('more'),
  })

/** Arguments of a run that publishes this generation. */
export const runOf = (generation: number): readonly string[] => [
  'run',
  '--quiet',
  '--vars',
  `generation=${generation}`,
]

interface Answer {
  readonly status: number
  readonly snapshot: string
  readonly text: string
}

/** Rejects when the connection breaks or the body is not whole. */
function ask(url: string, { agent, body }: { agent?: Agent; body?: string } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(url, { method, headers, ...(agent && { agent }) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          snapshot: String(response.headers['eider-snapshot']),
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface Total {
  readonly low: number
  readonly high: number
  readonly n: number
}

const TOTAL = '$apply=aggregate(generation with min as low,generation with max as high,$count as n)'
const requests = ['some', 'more'].map((name) => ({
  id: name,
  method: 'GET',
  url: `mart_${name}?${encodeURI(TOTAL)}`,
}))

/** Asks by turns for all rows, for sums, and for the sums of both models in a batch. */
export class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** Generation of each snapshot that was seen. */
  readonly #generations: Map<string, number>
  #asked = 0

  constructor(url: string, generations: Map<string, number>) {
    this.#url = url
    this.#generations = generations
  }

  get asked(): number {
    return this.#asked
  }

  /** Throws what is wrong with the answer, else gives its generation. */
  async askOnce(): Promise<number> {
    const turn = this.#asked++ % 3
    // Each client asks something else, so that not all is answered from memory.
    const answer =
      turn === 0
        ? await this.#get('mart_some?$count=true&$select=id,generation')
        : turn === 1
          ? await this.#get(`mart_more?${encodeURI(TOTAL)}`)
          : await ask(`${this.#url}/$batch`, {
              agent: this.#agent,
              body: JSON.stringify({ requests }),
            })
    assert.is(answer.status, 200, answer.text.slice(0, 300))
    const generation = turn === 0 ? ofRows(answer.text) : ofTotals(answer.text)
    const known = this.#generations.get(answer.snapshot) ?? generation
    assert.is(generation, known, `snapshot ${answer.snapshot} has one generation`)
    this.#generations.set(answer.snapshot, generation)
    return generation
  }

  /** Asks until told otherwise. Throws the first thing that is wrong. */
  async askUntil(isOver: () => boolean, pauseMs = 0): Promise<void> {
    while (!isOver()) {
      await this.askOnce()
      if (pauseMs > 0) await sleep(pauseMs)
    }
    this.close()
  }

  close(): void {
    this.#agent.destroy()
  }

  #get(path: string): Promise<Answer> {
    return ask(`${this.#url}/${path}`, { agent: this.#agent })
  }
}

function ofRows(text: string): number {
  const body = JSON.parse(text)
  const rows: readonly { id: number; generation: number }[] = body.value
  const generations = new Set(rows.map(({ generation }) => generation))
  assert.is(generations.size, 1, 'all rows are of one generation')
  const generation = rows[0]!.generation
  assert.is(rows.length, ROWS + generation)
  assert.is(body['@odata.count'], rows.length)
  assert.ok(rows.every(({ id }, i) => id === i))
  return generation
}

/** Of one aggregate, or of a batch of them. */
function ofTotals(text: string): number {
  const body = JSON.parse(text)
  const bodies: readonly { value: readonly Total[] }[] = body.responses?.map(
    (response: { body: unknown }) => response.body,
  ) ?? [body]
  const totals = bodies.map(({ value }) => value[0]!)
  const generation = totals[0]!.low
  for (const { low, high, n } of totals)
    assert.equal([low, high, n], [generation, generation, ROWS + generation], text)
  return generation
}
