// Events as somebody posts them for the first time.

import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'c01-02',
    mistake: 'names without quotes',
    ask: { post: '/collect/raw/orders', body: '{order_id:1}' },
    answer: '400 this is not JSON: names are written in double quotes: {"order_id":…',
    grade: 'A',
  },
  {
    id: 'c01-06',
    mistake: 'an array to the path of one event',
    ask: { post: '/collect/raw/orders', body: '[{"order_id":1}]' },
    answer:
      '400 an event is a JSON object, and this is an array; send several events to the same path with /batch at the end',
    grade: 'A',
  },
  {
    id: 'c01-07',
    mistake: 'columns missing',
    ask: { post: '/collect/raw/orders', body: '{"status":"paid"}' },
    answer:
      '400 column "order_id" (INTEGER) is NOT NULL and is missing; likewise "country_id", "amount", "changed_at"',
    grade: 'A',
  },
  {
    id: 'c01-18',
    mistake: 'NDJSON to the path of one event',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
      headers: { 'Content-Type': 'application/x-ndjson' },
    },
    answer:
      '415 this path takes one event as JSON; send NDJSON to the same path with /batch at the end',
    grade: 'A',
  },
  {
    id: 'c01-19',
    mistake: 'NDJSON as application/json',
    ask: {
      post: '/collect/raw/orders/batch',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
    },
    answer:
      '400 a batch is a JSON array of objects and nothing around it; for one object per line send Content-Type: application/x-ndjson',
    grade: 'A',
  },
  {
    id: 'c01-20',
    mistake: 'NDJSON without its line ends',
    ask: {
      post: '/collect/raw/orders/batch',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
      headers: { 'Content-Type': 'application/x-ndjson' },
    },
    answer:
      '400 event 0: unexpected text after the object on its line; with curl use --data-binary, since -d removes line ends',
    grade: 'A',
  },
  {
    id: 'n04',
    mistake: 'a batch within an object',
    ask: { post: '/collect/raw/orders/batch', body: '{"events":[]}' },
    answer:
      '400 a batch is a JSON array of objects and nothing around it; for one object per line send Content-Type: application/x-ndjson',
    grade: 'A',
  },
  {
    id: 'c01-22',
    mistake: 'the root',
    ask: { post: '/', body: '{}' },
    answer: '404 there is nothing at / on this port; events go to POST /collect/{schema}/{table}',
    grade: 'A',
  },
  {
    id: 'c01-26',
    mistake: 'a dot in the path',
    ask: { post: '/collect/raw.orders', body: '{}' },
    answer:
      '404 there is nothing at /collect/raw.orders on this port; did you mean /collect/raw/orders?',
    grade: 'A',
  },
  {
    id: 'c01-26-short',
    mistake: 'a path without collect',
    ask: { post: '/raw/orders', body: '{}' },
    answer: '404 there is nothing at /raw/orders on this port; did you mean /collect/raw/orders?',
    grade: 'A',
  },
  {
    id: 'c01-28',
    mistake: 'a target that is a merge model',
    ask: { post: '/collect/core/orders', body: '{}' },
    answer: '404 there is no events model "core.orders"; events go to raw.orders',
    grade: 'A',
  },
  {
    id: 'c01-31',
    mistake: '/metrics on the public port',
    ask: { post: '/metrics', body: '{}' },
    answer:
      '404 there is nothing at /metrics on this port; /metrics is on the admin port (collect.admin_port)',
    grade: 'A',
  },
  {
    id: 'c01-34',
    mistake: 'a web page that is not allowed',
    ask: {
      post: '/collect/raw/orders',
      body: '{}',
      headers: { 'Content-Type': 'application/json', Origin: 'http://localhost:3000' },
    },
    answer: '403 the origin http://localhost:3000 is not in collect.cors_origins of eider.yml',
    grade: 'A',
  },
]
