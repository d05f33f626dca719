// One question: a request of OData, and its answer with what makes it a proof: the state it is of, the URL by which
// anybody with the same rights gets it again, and what was left out.

import { limits } from '../core/limits.ts'
import type { AskedService, GivenAnswer } from '../http/side-door.ts'
import { type ArgumentsOf, ToolMistake } from './arguments.ts'
import { readCollection } from './collection-text.ts'

export const queryParameters = {
  request: {
    type: 'string',
    description:
      'A whole OData request as a client sends it, such as mart_sales?$filter=amount gt 100&$top=5, or the URL in "next" of an earlier answer. Instead of the other arguments',
  },
  set: { type: 'string', description: 'The entity set, by its name in list_sets' },
  select: { type: 'string', description: '$select: columns with commas' },
  filter: {
    type: 'string',
    description: "$filter, such as country eq 'NO' and amount gt 100. Strings are in single quotes",
  },
  orderby: { type: 'string', description: '$orderby, such as amount desc,id' },
  top: { type: 'integer', description: `$top: so many rows; at most ${limits.assistantRows} come` },
  skip: { type: 'integer', description: '$skip: rows to leave out before' },
  apply: {
    type: 'string',
    description:
      '$apply, to aggregate: groupby((country),aggregate(amount with sum as total)), filter(…)/aggregate($count as n)',
  },
  expand: { type: 'string', description: '$expand: navigation properties whose rows come too' },
  search: { type: 'string', description: '$search: words in any text column' },
  count: { type: 'boolean', description: '$count: how many rows there are, without skip and top' },
} as const

type Asked = ArgumentsOf<typeof queryParameters>

/** Answers with JSON as text. Throws ToolMistake, and rejects with RequestError as a client would be refused. */
export async function answerTool(
  service: AskedService,
  asked: Asked,
  gone: AbortSignal,
): Promise<string> {
  const target = targetOf(asked)
  requireJson(target)
  const state = await service.seen()
  const headers = {
    accept: 'application/json;odata.metadata=none',
    prefer: `maxpagesize=${limits.assistantRows}`,
  }
  return await service.get({ target, headers, gone }, async (answer) => {
    const snapshot = answer.headers['Eider-Snapshot'] ?? null
    const published = state?.snapshot.id === snapshot ? state?.snapshot.publishedAt : undefined
    const proof = {
      snapshot,
      ...(published === undefined ? {} : { published_at: published.toISOString() }),
      request: answer.url,
    }
    return `${JSON.stringify(proof).slice(0, -1)},${await answerText(answer)}}`
  })
}

function targetOf({ request, set, ...options }: Asked): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  if (request !== undefined) {
    if (set !== undefined || given.length > 0)
      throw new ToolMistake('give either "request" or "set" with other arguments, not both')
    return encoded(request.trim())
  }
  if (set === undefined)
    throw new ToolMistake('name a set in "set", or write a whole request in "request"')
  const query = given.map(([name, value]) => `$${name}=${encodedValue(String(value))}`)
  return [encodedValue(set), query.join('&')].filter((part) => part !== '').join('?')
}

/** Assistants write blanks and letters as they are. */
const encoded = (text: string) =>
  wellFormed(text).replaceAll(/[^\x21-\x7e]|["#<>\\^`{|}]/gu, encodeURIComponent)

const encodedValue = (text: string) => encodeURIComponent(wellFormed(text))

/** Half of a pair of surrogates has no form in UTF-8. */
const wellFormed = (text: string) => Buffer.from(text, 'utf8').toString('utf8')

/** Another format is a file, or bytes that no assistant reads. */
function requireJson(target: string): void {
  for (const pair of target.split('?').slice(1).join('?').split('&')) {
    const [name = '', value = ''] = pair.split('=')
    if (!/^(?:\$|%24)?(?:format|%66ormat)$/i.test(name) || /^json$/i.test(value)) continue
    throw new ToolMistake('answers come as JSON here; leave $format out')
  }
}

/** Members of the answer, without braces. */
async function answerText({ headers, body }: GivenAnswer): Promise<string> {
  const type = headers['Content-Type'] ?? ''
  if (body !== null && !/^(?:application\/json|text\/plain)/.test(type))
    throw new ToolMistake(`the answer is no text: it is ${type}`)
  const { text, isWhole } = await textOf(body)
  if (text === '') return '"value":null'
  const found = type.startsWith('text/') ? null : readCollection(text)
  if (found !== null) return collectionText(found)
  if (!isWhole)
    throw new ToolMistake(
      `the answer has more than ${limits.assistantAnswerBytes} bytes; ask for less of it by "select"`,
    )
  return `"value":${type.startsWith('text/') ? JSON.stringify(text) : text}`
}

function collectionText({
  rows,
  count,
  isWhole,
  nextLink,
}: NonNullable<ReturnType<typeof readCollection>>): string {
  const total = count === null ? '' : `"count":${count},`
  const cut = !isWhole
    ? `the first ${rows.length} rows are here; with more the answer would be longer than ${limits.assistantAnswerBytes} bytes. Name fewer columns in select, or aggregate with apply`
    : nextLink === null
      ? null
      : `the first ${rows.length} rows are here, and there are more. Ask for "next", or aggregate with apply`
  const tail = cut === null ? '' : `,"cut":${JSON.stringify(cut)}`
  const next = nextLink === null ? '' : `,"next":${JSON.stringify(nextLink)}`
  return `${total}"rows":[${rows.join()}]${tail}${next}`
}

/** No more is read than can be shown. */
async function textOf(body: GivenAnswer['body']) {
  const limit = limits.assistantAnswerBytes
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body === null || Buffer.isBuffer(body) ? [body ?? EMPTY] : body) {
    parts.push(part.subarray(0, limit - bytes))
    bytes += part.length
    if (bytes > limit) break
  }
  return { text: Buffer.concat(parts).toString('utf8'), isWhole: bytes <= limit }
}

const EMPTY = Buffer.alloc(0)
