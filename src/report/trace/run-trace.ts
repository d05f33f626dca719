// A run as a trace of OpenTelemetry: a span for the run, each model, and each phase, as OTLP has it in JSON.
//
// No value of a row is in it: messages of failed models may show some, so a span has only their place.

import { randomBytes } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import { tellableFailure } from '../../core/report/failure-place.ts'
import type { Phase, RunEvent } from '../../core/report/progress.ts'
import type { TraceSettings } from './trace-settings.ts'

type Value = string | number | boolean

interface Span {
  readonly id: string
  readonly parent: string | null
  readonly name: string
  readonly startedMs: number
  readonly endedMs: number
  readonly attributes: Readonly<Record<string, Value>>
  readonly problem: string | null
}

const newSpanId = () => randomBytes(8).toString('hex')

export class RunTrace {
  readonly #settings: TraceSettings
  readonly #traceId: string
  readonly #rootId = newSpanId()
  readonly #startedMs: number
  readonly #spans: Span[] = []
  readonly #models = new Map<string, { readonly id: string; readonly startedMs: number }>()
  #runId = ''
  #dropped = 0

  /** `startedMs`: as performance.now(), like all times here. */
  constructor(settings: TraceSettings, startedMs: number) {
    this.#settings = settings
    this.#traceId = settings.parent?.traceId ?? randomBytes(16).toString('hex')
    this.#startedMs = startedMs
  }

  note(event: RunEvent): void {
    const endedMs = performance.now()
    switch (event.event) {
      case 'run-started':
        this.#runId = event.run_id
        this.#add({ name: 'compile', startedMs: this.#startedMs, endedMs })
        break
      case 'flush-finished': {
        const { model, events, rejected, ms } = event
        const attributes = {
          'eider.model': model,
          'eider.events': events,
          'eider.rejected': rejected,
        }
        this.#add({ name: `flush ${model}`, startedMs: endedMs - ms, endedMs, attributes })
        break
      }
      case 'model-started':
        this.#modelSpan(event.model, endedMs)
        break
      case 'model-finished': {
        const { model, status, rows, ms, because } = event
        if (status === 'unchanged') break // a run of a thousand models mostly has nothing else
        const { id, startedMs } = this.#modelSpan(model, endedMs - ms)
        const counted = rows === undefined ? {} : { 'eider.rows': rows }
        const attributes = { 'eider.model': model, 'eider.status': status, ...counted }
        const problem = status === 'failed' ? tellableFailure(because) : null
        this.#add({ id, name: model, startedMs, endedMs: startedMs + ms, attributes, problem })
        break
      }
      case 'published': {
        const { snapshot, relations, ms } = event
        const attributes = { 'eider.snapshot': snapshot, 'eider.relations': relations }
        this.#add({ name: 'publish', startedMs: endedMs - ms, endedMs, attributes })
        break
      }
      default:
    }
  }

  notePhase({ model, phase, startedMs, ms }: Phase): void {
    const parent = this.#modelSpan(model, startedMs).id
    this.#add({ name: phase, parent, startedMs, endedMs: startedMs + ms })
  }

  /** The request of an exporter; `ok`: null where the run ended with an error. */
  request(ok: boolean | null, target: string | null): object {
    const attributes = {
      'eider.run_id': this.#runId,
      ...(target === null ? {} : { 'eider.target': target }),
      ...(this.#dropped === 0 ? {} : { 'eider.dropped_spans': this.#dropped }),
    }
    const root: Span = {
      id: this.#rootId,
      parent: this.#settings.parent?.spanId ?? null,
      name: 'eider run',
      startedMs: this.#startedMs,
      endedMs: performance.now(),
      attributes,
      problem:
        ok === true ? null : ok === null ? 'the run was refused' : 'not all models are built',
    }
    const { resource } = this.#settings
    const scope = { name: 'eider', version: resource['service.version'] }
    const spans = [root, ...this.#spans].map((span) => spanAsJson(this.#traceId, span))
    const scopeSpans = [{ scope, spans }]
    return { resourceSpans: [{ resource: { attributes: attributesAsJson(resource) }, scopeSpans }] }
  }

  /** The same for the start of a model and its end, whichever is told first. */
  #modelSpan(model: string, startedMs: number) {
    const known = this.#models.get(model) ?? { id: newSpanId(), startedMs }
    this.#models.set(model, known)
    return known
  }

  #add(span: Pick<Span, 'name' | 'startedMs' | 'endedMs'> & Partial<Span>): void {
    if (this.#spans.length >= limits.traceSpans) this.#dropped++
    else
      this.#spans.push({
        id: newSpanId(),
        parent: this.#rootId,
        attributes: {},
        problem: null,
        ...span,
      })
  }
}

/** OTLP in JSON has 64-bit integers as strings, and ids in hexadecimal. */
function spanAsJson(traceId: string, span: Span): object {
  const { id, parent, name, startedMs, endedMs, attributes, problem } = span
  return {
    traceId,
    spanId: id,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    kind: 1,
    startTimeUnixNano: nanoseconds(startedMs),
    endTimeUnixNano: nanoseconds(Math.max(startedMs, endedMs)),
    attributes: attributesAsJson(attributes),
    status: problem === null ? { code: 1 } : { code: 2, message: problem },
  }
}

const nanoseconds = (ms: number) =>
  String(BigInt(Math.round((performance.timeOrigin + ms) * 1000)) * 1000n)

const attributesAsJson = (attributes: Readonly<Record<string, Value>>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueAsJson(value) }))

function valueAsJson(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) }
}
