// What the service has answered since it started, as numbers.

import { add, createHistogram, type Histogram } from '../../http/prometheus.ts'

/** Upper bounds in seconds: an answer from the cache takes less than the first, the time limit is the last. */
const REQUEST_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

export interface ODataTraffic {
  /** By status. */
  readonly requests: ReadonlyMap<number, number>
  /** By code of the error. */
  readonly refused: ReadonlyMap<string, number>
  /** From the head of a request to the last byte of its answer. */
  readonly times: Histogram
  /** Requests whose answer is not complete yet. */
  readonly open: number
  readonly rows: number
  /** Bytes of bodies as they were sent. */
  readonly bytes: number
  readonly begin: () => void
  readonly end: (request: { status: number; ms: number; rows: number }) => void
  readonly refuse: (code: string) => void
  readonly send: (bytes: number) => void
}

export function odataTraffic(): ODataTraffic {
  const requests = new Map<number, number>()
  const refused = new Map<string, number>()
  const times = createHistogram(REQUEST_BUCKETS)
  const sums = { open: 0, rows: 0, bytes: 0 }
  return {
    requests,
    refused,
    times,
    get open() {
      return sums.open
    },
    get rows() {
      return sums.rows
    },
    get bytes() {
      return sums.bytes
    },
    begin() {
      sums.open++
    },
    end({ status, ms, rows }) {
      sums.open--
      sums.rows += rows
      add(requests, status, 1)
      times.observe(ms / 1000)
    },
    refuse(code) {
      add(refused, code, 1)
    },
    send(bytes) {
      sums.bytes += bytes
    },
  }
}
