// Answers of the fast path (post-front.ts): what a route makes of a body, as the bytes of HTTP, each in its place among the
// answers of its connection. Many requests wait for the same promise, the sync of a group: it is waited for once, and
// then all of them are sent, with one write for each connection.

import type { IncomingHttpHeaders } from 'node:http'
import { limits } from '../../core/limits.ts'
import { answerText, bodyHeaders, errorText, httpDate, type Headers } from '../respond.ts'
import type { FrontHooks, FrontRoutes, PostAnswer, PostRoute } from '../head.ts'

type AnswerOptions = FrontRoutes & Pick<FrontHooks, 'toRefusal'>

export interface Route extends PostRoute {
  readonly url: string
  /** Its own headers as a text; empty when it has none. */
  readonly variant: string
}

interface Answer {
  readonly connection: Answered
  readonly route: Route
  /** Of the answer, unless it is an error. */
  readonly body: PostAnswer['body']
  /** null while it is pending. */
  text: string | null
}

/** A connection with its unsent answers, in order of their requests. */
export interface Answered {
  answers: Answer[]
}

const KEEP_ALIVE: Headers = {
  Connection: 'keep-alive',
  'Keep-Alive': `timeout=${limits.keepAliveTimeoutMs / 1000}`,
}

export class FrontAnswers<C extends Answered> {
  readonly #routes: AnswerOptions
  readonly #send: (connection: C) => void
  /** The promise that came last, and the answers that wait for it. */
  #ready: Promise<void> | null = null
  #waiting: Answer[] = []
  /** Successful answers, by their headers and bodies, as of this second. */
  readonly #texts = new Map<string, string>()
  #date = ''
  /** The text that was last sent more than once at a time, and by counts what it makes. */
  #repeated = ''
  readonly #repeats: string[] = []

  /** `send` is called for a connection some of whose answers may have become ready. */
  constructor(routes: AnswerOptions, send: (connection: C) => void) {
    this.#routes = routes
    this.#send = send
  }

  take(connection: C, route: Route, body: Buffer, told: IncomingHttpHeaders): void {
    let taken: PostAnswer
    try {
      taken = route.take(body, told)
    } catch (error) {
      const text = this.#errorText(error, route)
      connection.answers.push({ connection, route, body: '', text })
      return
    }
    const answer: Answer = { connection, route, body: taken.body, text: null }
    connection.answers.push(answer)
    if (taken.ready !== this.#ready) this.#waitFor(taken.ready)
    this.#waiting.push(answer)
  }

  /** Takes off the answers that no earlier one is missing before, as one text; an empty one when there is none. */
  takeReady(connection: Answered): string {
    const { answers } = connection
    const first = answers[0]?.text ?? null
    if (first === null) return ''
    let count = 1
    while (count < answers.length && answers[count]!.text === first) count++
    let texts = this.#repeat(first, count)
    while (count < answers.length && answers[count]!.text !== null) texts += answers[count++]!.text!
    connection.answers = count === answers.length ? [] : answers.slice(count)
    return texts
  }

  /** The same text so many times, made once: a string that is put together is copied when it is sent first. */
  #repeat(text: string, count: number): string {
    if (count === 1) return text
    if (count > limits.frontRequestsInTurn) return text.repeat(count)
    if (text !== this.#repeated) {
      this.#repeated = text
      this.#repeats.length = 0
    }
    return (this.#repeats[count] ??= text.repeat(count))
  }

  #waitFor(ready: Promise<void>): void {
    const waiting: Answer[] = []
    this.#ready = ready
    this.#waiting = waiting
    const settle = (textOf: (answer: Answer) => string) => {
      // The next request with the same promise has to wait for it again.
      if (this.#waiting === waiting) this.#ready = null
      for (const answer of waiting) answer.text = textOf(answer)
      let sent: Answered | null = null
      for (const { connection } of waiting) {
        if (connection !== sent) this.#send(connection as C)
        sent = connection
      }
    }
    ready.then(
      () => {
        this.#renewTexts()
        settle(({ route, body }) =>
          this.#successText(route, typeof body === 'string' ? body : body()),
        )
      },
      (error: unknown) => settle(({ route }) => this.#errorText(route.toRefusal(error), route)),
    )
  }

  #renewTexts(): void {
    const date = httpDate()
    if (date === this.#date) return
    this.#date = date
    this.#texts.clear()
  }

  #successText({ variant, answerHeaders: own }: Route, body: string): string {
    const key = variant + body
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const { status, answerHeaders } = this.#routes
    const all = { ...answerHeaders, ...own }
    const headers = { ...all, ...bodyHeaders(body), Date: this.#date, ...KEEP_ALIVE }
    const text = answerText(status, headers, body)
    if (this.#texts.size >= limits.frontRoutes) this.#texts.clear()
    this.#texts.set(key, text)
    return text
  }

  #errorText(error: unknown, { url, answerHeaders: own }: Route): string {
    const { answerHeaders, toRefusal } = this.#routes
    const headers = { ...answerHeaders, ...own }
    return errorText(toRefusal(error, url), headers, { Date: httpDate(), ...KEEP_ALIVE })
  }
}
