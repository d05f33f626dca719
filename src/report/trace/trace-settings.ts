// Where the trace of a run goes, by the variables of OpenTelemetry. Nothing is sent unless an endpoint is set.

import { limits } from '../../core/limits.ts'

export interface TraceSettings {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Attributes of the resource; `service.name` is among them. */
  readonly resource: Readonly<Record<string, string>>
  /** The span that started this process; null: none. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null
}

type Environment = Readonly<Record<string, string | undefined>>

/** null: no trace is wanted. A text: why none can be sent. */
export function traceSettings(env: Environment, version: string): TraceSettings | string | null {
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim() ?? ''
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim() ?? ''
  if (own === '' && base === '') return null
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return null
  if (env['OTEL_TRACES_EXPORTER'] === 'none') return null
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']
  if (protocol === 'grpc')
    return 'traces go out over HTTP as JSON; set OTEL_EXPORTER_OTLP_PROTOCOL=http/json, and the port for HTTP, mostly 4318'
  const endpoint = own === '' ? `${base.replace(/\/+$/, '')}/v1/traces` : own
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT is not an http: or https: URL'
  const parent = parentOf(env['TRACEPARENT'] ?? '')
  if (parent === 'not-sampled') return null
  const given = pairsOf(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  const name = env['OTEL_SERVICE_NAME'] || given['service.name'] || 'eider'
  return {
    endpoint,
    headers: {
      ...pairsOf(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''),
      ...pairsOf(env['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? ''),
    },
    timeoutMs: timeoutOf(
      env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] ?? env['OTEL_EXPORTER_OTLP_TIMEOUT'],
    ),
    resource: { ...given, 'service.name': name, 'service.version': version },
    parent,
  }
}

/** `key=value,key=value`, the values as in a URL. */
function pairsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    const key = pair.slice(0, at).trim()
    if (at < 1 || key === '') return []
    const value = pair.slice(at + 1).trim()
    try {
      return [[key, decodeURIComponent(value)] as const]
    } catch {
      return [[key, value] as const]
    }
  })
  return Object.fromEntries(pairs)
}

/** The process ends only when the trace is sent or given up, so nobody can make that long. */
function timeoutOf(text: string | undefined): number {
  const given = Number(text)
  const isGiven = text !== undefined && text.trim() !== '' && given > 0
  return isGiven ? Math.min(given, limits.traceTimeoutMs) : limits.traceTimeoutMs
}

/** W3C Trace Context: `00-<trace>-<span>-<flags>`. One that is malformed is passed over, as the standard says. */
function parentOf(text: string): TraceSettings['parent'] | 'not-sampled' {
  const [, traceId = '', spanId = '', flags = ''] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text.trim()) ?? []
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return null
  return (Number.parseInt(flags, 16) & 1) === 0 ? 'not-sampled' : { traceId, spanId }
}
