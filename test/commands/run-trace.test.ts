// A run as a trace of OpenTelemetry, sent to a receiver of the test.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { receiver } from '../support/receiver.ts'
import { workspace } from '../support/workspace.ts'

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number; readonly message?: string }
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string }
      readonly spans: readonly Span[]
    }[]
  }[]
}

const files = {
  'eider.yml': 'name: s\n',
  'seeds/ref/c.csv': 'id,secret\n1,Xyzzy\n',
  'models/a/good.sql': '-- @check: not_null(id)\nSELECT id FROM ref.c\n',
  'models/a/bad.sql': "-- @check: secret = ''\nSELECT id, secret FROM ref.c\n",
}

/** As OTLP says of its JSON: ids in hexadecimal, 64-bit integers as strings, one member in each value. */
function checkShape({ resourceSpans }: ExportRequest): readonly Span[] {
  const check = ({ key, value }: Attribute) => {
    assert.type(key, 'string')
    const [kind, content] = Object.entries(value)[0]!
    assert.is(Object.keys(value).length, 1)
    assert.ok(['stringValue', 'intValue', 'boolValue'].includes(kind), kind)
    assert.type(content, kind === 'boolValue' ? 'boolean' : 'string')
  }
  const spans = resourceSpans.flatMap(({ resource, scopeSpans }) => {
    resource.attributes.forEach(check)
    return scopeSpans.flatMap((scope) => {
      assert.is(scope.scope.name, 'eider')
      return scope.spans
    })
  })
  for (const span of spans) {
    assert.match(span.traceId, /^[0-9a-f]{32}$/)
    assert.match(span.spanId, /^[0-9a-f]{16}$/)
    assert.match(span.startTimeUnixNano, /^\d{19}$/)
    assert.match(span.endTimeUnixNano, /^\d{19}$/)
    assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name)
    assert.is(span.kind, 1)
    assert.ok([1, 2].includes(span.status.code))
    span.attributes.forEach(check)
  }
  assert.is(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
  return spans
}

const attribute = (attributes: readonly Attribute[], name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

test('a run is a trace with a span for each model and phase, and no value of a row', async () => {
  await using to = await receiver((response) => response.end('{}'))
  await using space = await workspace(files)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${to.url}/otel/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20k,x-a=1',
    OTEL_SERVICE_NAME: 'shop-pipeline',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=ci,service.name=other',
    TRACEPARENT: `00-${traceId}-00f067aa0ba902b7-01`,
  }
  await space.ok(['run', '--quiet'], { env, exitCode: 1 })
  const request = to.received[0]!
  assert.is(to.received.length, 1)
  assert.is(request.path, '/otel/v1/traces')
  assert.is(request.headers['content-type'], 'application/json')
  assert.is(request.headers.authorization, 'Bearer k')
  assert.is(request.headers['x-a'], '1')
  assert.not.match(request.text, 'Xyzzy')
  const body = JSON.parse(request.text) as ExportRequest
  const spans = checkShape(body)
  const named = (name: string) => spans.find((span) => span.name === name)!
  const root = named('eider run')
  assert.ok(spans.every((span) => span.traceId === traceId))
  assert.is(root.parentSpanId, '00f067aa0ba902b7')
  assert.is(root.status.code, 2)
  for (const name of ['compile', 'ref.c', 'a.good', 'a.bad', 'publish'])
    assert.is(named(name).parentSpanId, root.spanId, name)
  const phases = spans.filter(({ parentSpanId }) => parentSpanId === named('a.good').spanId)
  assert.equal([...new Set(phases.map(({ name }) => name))].toSorted(), ['build', 'checks'])
  assert.equal(named('a.bad').status, { code: 2, message: 'models/a/bad.sql:1:4' })
  assert.is(attribute(named('a.good').attributes, 'eider.rows'), '1')
  const { attributes } = body.resourceSpans[0]!.resource
  assert.is(attribute(attributes, 'service.name'), 'shop-pipeline')
  assert.is(attribute(attributes, 'deployment.environment'), 'ci')

  for (const off of [
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { TRACEPARENT: `00-${traceId}-00f067aa0ba902b7-00` },
  ])
    await space.ok(['run', '--quiet'], { env: { ...env, ...off }, exitCode: 1 })
  assert.is(to.received.length, 1)
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${to.url}/own`, TRACEPARENT: 'nonsense' }
  await space.ok(['run', '--quiet'], { env: { ...env, ...own }, exitCode: 1 })
  assert.is(to.received[1]?.path, '/own')
})

test('a receiver that hangs, refuses or is not there costs a warning, and no more than the time limit', async () => {
  await using space = await workspace({ ...files, 'models/a/bad.sql': 'SELECT 1 AS id\n' })
  const warned = async (env: Readonly<Record<string, string>>, says: RegExp) => {
    const startedMs = performance.now()
    const { stderr } = await space.ok(['run'], { env })
    assert.match(stderr, says)
    assert.not.match(stderr, 'k3y')
    return performance.now() - startedMs
  }
  await using broken = await receiver((response) => response.writeHead(500).end())
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=k3y' }
  await warned({ ...headers, OTEL_EXPORTER_OTLP_ENDPOINT: broken.url }, /trace-not-sent.*500/)
  await using silent = await receiver(() => {})
  await warned(
    { ...headers, OTEL_EXPORTER_OTLP_ENDPOINT: silent.url, OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    /trace-not-sent.*no answer within 100 ms/,
  )
  await warned(
    { OTEL_EXPORTER_OTLP_ENDPOINT: silent.url, OTEL_EXPORTER_OTLP_TIMEOUT: '600000' },
    /no answer within 2000 ms/,
  )
  await warned({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, /trace-not-sent/)
  await warned({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /is not an http: or https: URL/)
  await warned(
    { OTEL_EXPORTER_OTLP_ENDPOINT: silent.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /traces go out over HTTP as JSON/,
  )
})

test.run()
