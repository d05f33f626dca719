// Tokens and events in the first days.

import type { Mistake } from '../mistake.ts'

const token = 'a'.repeat(40)
const service = { ODATA_TOKEN: token }
const daemon = { COLLECT_TOKEN: token }
const json = { 'Content-Type': 'application/json' }
const orders = '/collect/raw/orders'

const order = (values: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    order_id: 1,
    country_id: 'NO',
    status: 'paid',
    amount: '5.00',
    changed_at: '2026-01-01T00:00:00Z',
    ...values,
  })

const at = (
  id: string,
  mistake: string,
  changed_at: unknown,
  answer = '',
  grade: Mistake['grade'] = 'A',
): Mistake => ({
  id,
  mistake,
  ask: { post: orders, body: order({ changed_at }) },
  answer,
  grade,
})

const amount = (id: string, mistake: string, written: string, answer = ''): Mistake => ({
  id,
  mistake,
  ask: { post: orders, body: order({ amount: 0 }).replace('"amount":0', `"amount":${written}`) },
  answer,
  grade: 'A',
})

export const rows: readonly Mistake[] = [
  {
    id: 'd46',
    mistake: 'a wrong token to the service',
    ask: { get: '/', headers: { Authorization: 'Bearer nope' }, env: service },
    answer: `
      401 this token is not valid; it stands after "Authorization: Bearer", or is the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-none',
    mistake: 'no token to the service',
    ask: { get: '/', env: service },
    answer: `
      401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-query',
    mistake: 'the token in the URL',
    ask: { get: `/core_orders?token=${token}`, env: service },
    answer: `
      401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-key',
    mistake: 'the token in X-Api-Key',
    ask: { get: '/', headers: { 'X-Api-Key': token }, env: service },
    answer: `
      401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-user',
    mistake: 'the token as the user of Basic',
    ask: {
      get: '/',
      headers: { Authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` },
      env: service,
    },
    answer: `
      401 this token is not valid; it stands after "Authorization: Bearer", or is the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-bare',
    mistake: 'the token without Bearer',
    ask: { get: '/', headers: { Authorization: token }, env: service },
    answer: `
      401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-daemon',
    mistake: 'a wrong token to the daemon',
    ask: {
      post: orders,
      body: '{}',
      headers: { ...json, Authorization: 'Bearer nope' },
      env: daemon,
    },
    answer: `
      401 this token is not valid; it stands after "Authorization: Bearer", or is the password of Basic`,
    grade: 'A',
  },
  {
    id: 'd46-daemon-key',
    mistake: 'the token of the daemon in X-Api-Key',
    ask: { post: orders, body: '{}', headers: { ...json, 'X-Api-Key': token }, env: daemon },
    answer: `
      401 a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic`,
    grade: 'A',
  },
  at(
    'd47',
    'an event of the year 20260',
    '20260-01-01T00:00:00Z',
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00", with at most 6 digits of the fraction`,
  ),
  at(
    'd47-epoch',
    'milliseconds for a time',
    1_767_225_600_000,
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the number 1767225600000 does not fit; it must be text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00", with at most 6 digits of the fraction`,
  ),
  at(
    'd47-midnight',
    'midnight as 24:00',
    '2026-01-01T24:00:00Z',
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be a time that exists, not "2026-01-01T24:00:00": a day has the hours 00 to 23`,
  ),
  at(
    'd47-leap',
    '29 February in a year that has none',
    '2026-02-29T00:00:00Z',
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be a time that exists, not "2026-02-29T00:00:00": February 2026 has 28 days`,
  ),
  at(
    'd47-leap-second',
    'a leap second',
    '2026-12-31T23:59:60Z',
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be a time that exists, not "2026-12-31T23:59:60": a minute has the seconds 00 to 59`,
  ),
  at(
    'd47-zone',
    'the name of a zone in a time',
    '2026-01-01T00:00:00[Europe/Oslo]',
    `
      400 column "changed_at" (TIMESTAMP WITH TIME ZONE): the string does not fit; it must be text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00", with at most 6 digits of the fraction`,
  ),
  at(
    'd48',
    'an event from 2099',
    '2099-01-01T00:00:00Z',
    `
      202 {"accepted":1}`,
    'B',
  ),
  at(
    'd49',
    'a local time',
    '2026-01-01T00:00:00',
    `
      202 {"accepted":1}`,
    'B',
  ),
  amount(
    'd50-nan',
    'NaN',
    'NaN',
    `
      400 this is not JSON: it has no value NaN; write null`,
  ),
  amount(
    'd50-nan-text',
    'NaN as text',
    '"NaN"',
    `
      400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-huge',
    'a number beyond all',
    '1e400',
    `
      400 column "amount" (DECIMAL(10,2)): the number 1e400 does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-comma',
    'a decimal comma',
    '"5,00"',
    `
      400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-blank',
    'a blank between thousands',
    '"1 000"',
    `
      400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-true',
    'true for a number',
    'true',
    `
      400 column "amount" (DECIMAL(10,2)): the boolean does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-empty',
    'an empty text for a number',
    '""',
    `
      400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-scale',
    'three decimals as text',
    '"5.005"',
    `
      400 column "amount" (DECIMAL(10,2)): the string does not fit; it must be a number with at most 8 digits before and 2 after the decimal point`,
  ),
  amount(
    'd50-exponent',
    'a number with an exponent',
    '1e3',
    `
      202 {"accepted":1}`,
  ),
  {
    id: 'd51',
    mistake: 'events before the model is there',
    ask: { post: '/collect/raw/clicks', body: '{}' },
    answer: `
      404 there is no events model "raw.clicks"; events go to raw.orders`,
    grade: 'A',
  },
  {
    id: 'd54',
    mistake: 'NUL in a text',
    ask: { post: orders, body: order({ status: 'a\0b' }) },
    answer: `
      202 {"accepted":1}`,
    grade: 'A',
  },
  {
    id: 'd54-half',
    mistake: 'half a surrogate',
    ask: { post: orders, body: order({ status: 'x' }).replace('"x"', String.raw`"\ud800"`) },
    answer: `
      400 a \\u escape is half of a surrogate pair, which is not a character`,
    grade: 'A',
  },
  {
    id: 'd54-deep',
    mistake: '5,000 levels',
    ask: { post: orders, body: `{"order_id":${'['.repeat(5_000)}1${']'.repeat(5_000)}}` },
    answer: `
      400 the event is nested more than 100 levels deep`,
    grade: 'A',
  },
  {
    id: 'd55',
    mistake: 'events posted to the service',
    ask: { method: 'POST', get: '//collect/raw/orders' },
    answer: `
      404 there is nothing at /collect/raw/orders; the service root is /odata, the explorer /`,
    grade: 'A',
  },
  {
    id: 'd55-read',
    mistake: 'sets read from the daemon',
    ask: { method: 'GET', post: '/odata/core_orders' },
    answer: `
      404 there is nothing at /odata/core_orders on this port; events go to POST /collect/{schema}/{table}`,
    grade: 'A',
  },
]
