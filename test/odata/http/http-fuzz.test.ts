// Requests that are understood are broken in many ways and sent to the service: paths, options, headers, bodies of
// $query and of batches. Whatever comes, it is answered as OData has it, without words of the engine, and the next good
// request is answered as before. EIDER_FUZZ_SECONDS=600 works on for that long; EIDER_FUZZ_SEED begins elsewhere.

import { Agent } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { good, odd } from '../../support/fuzz-corpus.ts'
import { type Answer, type Asked, serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'

const SEED = Number(process.env['EIDER_FUZZ_SEED'] ?? 20_261_121)
const SECONDS = Number(process.env['EIDER_FUZZ_SECONDS'] ?? 8)
/** However slow the machine is. */
const LEAST = 200
/** Requests that wait for their answers, each on a connection of its own that stays. */
const AT_ONCE = 8
const MOST = process.env['EIDER_FUZZ_SECONDS'] === undefined ? 3_000 : Number.POSITIVE_INFINITY

/** What an answer to a bad request must not say. */
const WORDS_OF_THE_ENGINE =
  /duckdb|\b(?:binder|catalog|parser|conversion|invalid input|out of range|internal|io) error|struct_pack|to_json|"main"|strptime|node_modules|dist\/src|\/tmp\/|at Object\./i

test(`broken requests are refused as OData has it (seed ${SEED})`, async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const random = seededRandom(SEED)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const tokens = good.flatMap(
    ({ target = '', body = '' }) => `${target} ${body}`.match(/[\w$]+|'[^']*'|[^\w\s]/gu) ?? [],
  )

  const broken = (text: string): string => {
    const parts: string[] = text.match(/[\w$]+|\s+|[^\w\s]/gu) ?? []
    const at = below(parts.length + 1)
    const kind = below(6)
    if (kind === 0) parts.splice(at, 1 + below(4))
    else if (kind === 1) parts.splice(at, 0, ...parts.slice(at, at + 1 + below(8)))
    else if (kind === 2 && parts.length > 1) {
      const other = below(parts.length)
      const moved = parts[at % parts.length]!
      parts[at % parts.length] = parts[other]!
      parts[other] = moved
    } else if (kind === 3) parts.splice(at, below(3), pick(tokens))
    else if (kind === 4) parts.splice(at, below(2), pick(odd))
    else parts.splice(at, parts.length)
    return parts.join('')
  }

  const change = (asked: Asked): Asked => {
    const kind = below(10)
    const { target = '', headers = {}, body } = asked
    if (kind === 0)
      return {
        ...asked,
        method: pick(['PUT', 'DELETE', 'PATCH', 'POST', 'OPTIONS', 'HEAD', 'GET']),
      }
    if (kind === 1) {
      const name = pick([
        'Accept',
        'Prefer',
        'OData-MaxVersion',
        'OData-Version',
        'If-None-Match',
        'Content-Type',
        'Accept-Charset',
      ])
      return {
        ...asked,
        headers: { ...headers, [name]: asHeader(broken(headers[name] ?? pick(tokens))) },
      }
    }
    return body === undefined || kind === 2
      ? { ...asked, target: broken(target) }
      : { ...asked, body: broken(body) }
  }

  const first = await served.get('shop_customers')
  const counts = { understood: 0, refused: 0 }
  const endAt = performance.now() + SECONDS * 1000
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  resources.defer(() => agent.destroy())
  let round = 0
  const next = (): Asked => {
    let asked = pick(good)
    for (let changes = below(4); changes >= 0; changes--) asked = change(asked)
    return { ...asked, target: asTarget(asked.target ?? '') }
  }
  const ask = async () => {
    while (round < MOST && (round < LEAST || performance.now() < endAt)) {
      const isLookedAfter = round++ % 50 === 0
      const sent = next()
      const answer = await served.send({ ...sent, agent }).catch((cause: unknown) => {
        throw new Error(JSON.stringify(sent), { cause })
      })
      const fault = faultOf(answer, sent.method ?? 'GET')
      const seen = `${JSON.stringify(sent)}: ${answer.status} ${answer.text.slice(0, 500)}`
      assert.is(fault, null, seen)
      if (answer.status < 400) counts.understood++
      else counts.refused++
      if (isLookedAfter) assert.is((await served.get('shop_customers')).text, first.text)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  assert.is((await served.get('shop_customers')).text, first.text)
  const failures = served.log.filter(({ event }) => event === 'request-failed')
  assert.is(failures.length, 0, JSON.stringify(failures[0]))
  process.stdout.write(`${counts.understood + counts.refused} requests\n`)
  assert.ok(counts.understood > 5 && counts.refused > 5, JSON.stringify(counts))
})

/** Every request line is ASCII without blanks; percent signs stay as they are, so that broken encoding is met too. */
const asTarget = (text: string) =>
  text.replace(/[^!-~]|#/gu, (character) =>
    /\p{Cs}/u.test(character)
      ? `%ED%${(0xa0 + (character.charCodeAt(0) % 32)).toString(16)}%80`
      : encodeURIComponent(character),
  )

const asHeader = (text: string) => text.replace(/[^\t -~]/gu, '?')

/** What is wrong with an answer; null when nothing is. */
function faultOf({ status, headers, text, aborted }: Answer, method: string): string | null {
  if (aborted) return 'the answer was cut off'
  if (status >= 500 && ![501, 503, 504].includes(status)) return 'a failure of the server'
  if (status < 400 || method === 'HEAD') return faultOfParts(text, headers['content-type'] ?? '')
  return faultOfError(text)
}

function faultOfError(text: string): string | null {
  if (WORDS_OF_THE_ENGINE.test(text)) return 'words of the engine'
  const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<string, unknown>> }
  const { code, message, target = '' } = error ?? {}
  const isText = (value: unknown) => typeof value === 'string'
  return isText(code) && code !== '' && isText(message) && message !== '' && isText(target)
    ? null
    : 'no error of OData'
}

/** Each part of the answer to a batch. */
function faultOfParts(text: string, type: string): string | null {
  const statuses = [
    ...text.matchAll(type.startsWith('multipart') ? /^HTTP\/1\.1 (\d+)/gm : /"status":(\d+)/g),
  ].map(([, status]) => Number(status))
  const failed = statuses.filter((status) => status >= 500 && ![501, 503, 504].includes(status))
  if (failed.length > 0) return 'a failure of the server within a batch'
  const errors = text.match(/\{"error":\{[^}]*\}\}/g) ?? []
  return errors.map(faultOfError).find((fault) => fault !== null) ?? null
}

test.run()
