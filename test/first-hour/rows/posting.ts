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
      '400 event 0 (line 1): unexpected text after the object on its line; with curl use --data-binary, since -d removes line ends',
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
  {
    id: 'c01-01',
    mistake: 'curl -d without a content type',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
    answer: `415 the Content-Type "application/x-www-form-urlencoded" is not JSON; send application/json, or for a batch also application/x-ndjson`,
    grade: 'A',
  },
  {
    id: 'c01-03',
    mistake: 'a comma at the end',
    ask: { post: '/collect/raw/orders', body: '{"order_id":1,}' },
    answer: `400 this is not JSON: Expected double-quoted property name in JSON at position 14`,
    grade: 'A',
  },
  {
    id: 'c01-03-cut',
    mistake: 'a body that is cut off',
    ask: { post: '/collect/raw/orders', body: '{"order_id":1' },
    answer: `400 this is not JSON: Expected ',' or '}' after property value in JSON at position 13`,
    grade: 'A',
  },
  {
    id: 'c01-05',
    mistake: 'an empty body',
    ask: { post: '/collect/raw/orders', body: '' },
    answer: `400 the body is empty; send a JSON object`,
    grade: 'A',
  },
  {
    id: 'c01-08',
    mistake: 'a text for a number',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": "one", "country_id": "NO", "status": "placed", "amount": 129.9, "changed_at": "2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "order_id" (INTEGER): the string does not fit; it must be an integer from -2147483648 to 2147483647`,
    grade: 'A',
  },
  {
    id: 'c01-08-fraction',
    mistake: 'a fraction for a whole number',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1.5, "country_id": "NO", "status": "placed", "amount": 129.9, "changed_at": "2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "order_id" (INTEGER): the number 1.5 does not fit; it must be an integer from -2147483648 to 2147483647, without a fraction`,
    grade: 'A',
  },
  {
    id: 'c01-08-comma',
    mistake: 'a comma in a decimal',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": "placed", "amount": "1,50", "changed_at": "2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
    grade: 'A',
  },
  {
    id: 'c01-08-scale',
    mistake: 'too many decimals',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": "placed", "amount": 1.505, "changed_at": "2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "amount" (DECIMAL(10,2)): the number 1.505 does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
    grade: 'A',
  },
  {
    id: 'c01-08-epoch',
    mistake: 'seconds for a time',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": "placed", "amount": 129.9, "changed_at": 1767225600}',
    },
    answer: `400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the number 1767225600 does not fit; it must be text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00", with at most 6 digits of the fraction`,
    grade: 'A',
  },
  {
    id: 'c01-08-date',
    mistake: 'a German date',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": "placed", "amount": 129.9, "changed_at": "01.02.2026"}',
    },
    answer: `400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00", with at most 6 digits of the fraction`,
    grade: 'A',
  },
  {
    id: 'c01-14',
    mistake: 'another spelling of a name',
    ask: {
      post: '/collect/raw/orders',
      body: '{"orderId":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "order_id" (INTEGER) is NOT NULL and is missing; the event has "orderId"`,
    grade: 'A',
  },
  {
    id: 'c01-14-case',
    mistake: 'another case of a name',
    ask: {
      post: '/collect/raw/orders',
      body: '{"Order_ID":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "order_id" (INTEGER) is NOT NULL and is missing; the event has "Order_ID"`,
    grade: 'A',
  },
  {
    id: 'c01-15',
    mistake: 'null for a required column',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": null, "amount": 129.9, "changed_at": "2026-03-02T08:14:00Z"}',
    },
    answer: `400 column "status" (VARCHAR) is NOT NULL and is null`,
    grade: 'A',
  },
  {
    id: 'c01-17',
    mistake: 'CSV',
    ask: { post: '/collect/raw/orders', body: 'a,b', headers: { 'Content-Type': 'text/csv' } },
    answer: `415 the Content-Type "text/csv" is not JSON; send application/json, or for a batch also application/x-ndjson`,
    grade: 'A',
  },
  {
    id: 'c01-21',
    mistake: 'line 2 of a batch is wrong',
    ask: {
      post: '/collect/raw/orders/batch',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}\n{"order_id":"x"}\n',
      headers: { 'Content-Type': 'application/x-ndjson' },
    },
    answer: `400 event 1 (line 2): column "order_id" (INTEGER): the string does not fit; it must be an integer from -2147483648 to 2147483647`,
    grade: 'A',
  },
  {
    id: 'c01-23',
    mistake: 'GET',
    ask: { post: '/collect/raw/orders', body: '', method: 'GET' },
    answer: `405 the method is GET; this path takes POST`,
    grade: 'A',
  },
  {
    id: 'c01-23-put',
    mistake: 'PUT',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id":1,"country_id":"NO","status":"placed","amount":129.9,"changed_at":"2026-03-02T08:14:00Z"}',
      method: 'PUT',
    },
    answer: `405 the method is PUT; this path takes POST`,
    grade: 'A',
  },
  {
    id: 'c01-25',
    mistake: 'a misspelt target',
    ask: { post: '/collect/raw/order', body: '{}' },
    answer: `404 there is no events model "raw.order"; did you mean "raw.orders"?`,
    grade: 'A',
  },
  {
    id: 'c01-25-case',
    mistake: 'another case of a target',
    ask: { post: '/collect/RAW/Orders', body: '{}' },
    answer: `404 there is no events model "RAW.Orders"; did you mean "raw.orders"?`,
    grade: 'A',
  },
  {
    id: 'c01-16',
    mistake: 'a misspelt field of a column that may be NULL',
    ask: {
      post: '/collect/raw/orders',
      body: '{"order_id": 1, "country_id": "NO", "status": "placed", "amount": 129.9, "changed_at": "2026-03-02T08:14:00Z", "recieved_at": "2026-01-01T00:00:00Z"}',
    },
    answer: `202 {"accepted":1,"warnings":[{"code":"unknown-field","message":"raw.orders has no column \\"recieved_at\\", so its value is not stored; did you mean \\"received_at\\"?","target":"recieved_at"}]}`,
    grade: 'A',
  },
  {
    id: 'c01-30',
    mistake: '40 MB',
    ask: { post: '/collect/raw/orders/batch', body: new Uint8Array(40_000_000).fill(32) },
    answer: `413 the body is larger than 32 MiB (collect.max_batch_bytes); send several batches`,
    grade: 'A',
  },
  {
    id: 'c01-33',
    mistake: 'another Host',
    ask: {
      post: '/collect/raw/orders',
      body: '{}',
      headers: { 'Content-Type': 'application/json', Host: 'shop.example' },
    },
    answer: `403 this daemon answers to loopback names only, not to "shop.example"; set collect.host, or let the proxy send Host: 127.0.0.1`,
    grade: 'A',
  },
  {
    id: 'n04b',
    mistake: 'bytes that are not UTF-8',
    ask: { post: '/collect/raw/orders', body: Buffer.from('{"status":"\xe9"}', 'latin1') },
    answer: `400 the body is not UTF-8`,
    grade: 'A',
  },
  {
    id: 'n04b-charset',
    mistake: 'another charset',
    ask: {
      post: '/collect/raw/orders',
      body: '{}',
      headers: { 'Content-Type': 'application/json; charset=latin1' },
    },
    answer: `415 the charset latin1 is not UTF-8; send application/json, or for a batch also application/x-ndjson`,
    grade: 'A',
  },
  {
    id: 'n04b-gzip',
    mistake: 'broken gzip',
    ask: {
      post: '/collect/raw/orders',
      body: '{}',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    },
    answer: `400 the body cannot be read as gzip`,
    grade: 'A',
  },
  {
    id: 'n04b-twice',
    mistake: 'a field twice',
    ask: { post: '/collect/raw/orders', body: '{"order_id":1,"order_id":2}' },
    answer: `400 the field "order_id" is given more than once`,
    grade: 'A',
  },
  {
    id: 'm03',
    mistake: 'no token',
    ask: { post: '/collect/raw/orders', body: '{}', env: { COLLECT_TOKEN: 'a'.repeat(40) } },
    answer: `401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
]
