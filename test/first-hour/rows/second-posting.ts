// Mistakes of senders of events: what a program of theirs sends in another form.

import { gzipSync } from 'node:zlib'
import type { Mistake } from '../mistake.ts'

const orders = '/collect/raw/orders'
const batch = `${orders}/batch`
const order =
  '{"order_id":1,"country_id":"NO","status":"placed","amount":1,"changed_at":"2026-03-02T08:14:00Z"}'
const ndjson = { 'Content-Type': 'application/x-ndjson' }
const notObject = 'an event is a JSON object, and this is an array'

const posted = (
  id: string,
  mistake: string,
  body: string | Uint8Array,
  answer: string,
  more: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Mistake => ({
  id,
  mistake,
  ask: { post: more.path ?? orders, body, ...(more.headers && { headers: more.headers }) },
  answer,
  grade: 'A',
})

export const rows: readonly Mistake[] = [
  posted(
    's20',
    'a JSON array as NDJSON',
    `[${order}]`,
    `400 event 0 (line 1): ${notObject}; a line is one event; send an array as application/json`,
    { path: batch, headers: ndjson },
  ),
  posted(
    's20-nested',
    'an array within the array',
    `[[${order}]]`,
    `400 event 0: ${notObject}; its objects belong into one array: [{…},{…}]`,
    { path: batch },
  ),
  posted(
    's51-gzip',
    'gzip without Content-Encoding',
    gzipSync(order),
    '400 the body is not UTF-8; it is gzip: send the header Content-Encoding: gzip',
  ),
  posted(
    's51-file',
    'the name of a file, by curl --data-raw',
    '@order.json',
    '400 this is not JSON: it is the name of a file; curl sends its contents with --data-binary @order.json',
  ),
  posted(
    's51-file-batch',
    'the name of a file to the path of a batch',
    '@data/orders.json',
    '400 this is not JSON: it is the name of a file; curl sends its contents with --data-binary @data/orders.json',
    { path: batch },
  ),
  posted(
    's51-envelope',
    'an object around the event',
    `{"type":"order","data":${order}}`,
    '400 column "order_id" (INTEGER) is NOT NULL and is missing; it is inside of "data": send the object in "data" alone; likewise "country_id", "status", "amount", "changed_at"',
  ),
  posted(
    's51-nan',
    'NaN',
    order.replace('"amount":1', '"amount": NaN'),
    '400 this is not JSON: it has no value NaN; write null',
  ),
  posted(
    's51-none',
    'None of Python, after a text that looks like one',
    order.replace('"placed"', '": NaN"').replace('"amount":1', '"amount":None'),
    '400 this is not JSON: it has no value None; write null',
  ),
  posted(
    's51-true',
    'True of Python',
    order.replace('"amount":1', '"amount":True'),
    '400 this is not JSON: it has no value True; write true',
  ),
]
