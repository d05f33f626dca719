// Tokens and webhooks of eider.yml as JSON Schema.

import { signatureShapes } from '../../../src/access/credential.ts'
import { NAME_IN_LOG } from '../../../src/access/hashed-tokens.ts'
import { limits } from '../../../src/core/limits.ts'
import type { AccessKey } from '../../../src/project/config.ts'
import type { signedSenderKeys } from '../../../src/project/signed-senders.ts'
import type { tokenKeys } from '../../../src/project/tokens.ts'
import { group, type JsonSchema, text } from './value-schemas.ts'

const NAME = { type: 'string', pattern: NAME_IN_LOG.source }
const REFERENCE = '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}'

const oneOrMore = (item: JsonSchema): JsonSchema => ({
  anyOf: [item, { type: ['array', 'null'], items: item }],
})

const ofBoth = {
  name: { description: 'Name in the log: letters, digits, _ and -', ...NAME },
  hash: {
    description: 'sha256: and 64 hexadecimal digits, as eider token NAME prints it, or ${NAME}',
    type: 'string',
    pattern: `^sha256:[0-9A-Fa-f]{64}$|${REFERENCE}`,
  },
  expires: {
    description: 'The last day, such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z',
    type: ['string', 'null'],
    pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2})?Z)?$',
  },
}

const ofReader: Readonly<Record<(typeof tokenKeys)['odata.tokens'][number], JsonSchema>> = {
  ...ofBoth,
  sets: {
    description: 'Sets that it can read: names, or patterns such as mart_*; all by default',
    ...oneOrMore(text),
  },
  rows: {
    description: 'Rows that it can read: a condition in SQL for each set, or one for all',
    anyOf: [text, { type: 'object', additionalProperties: { type: 'string', minLength: 1 } }],
  },
}

const ofSender: Readonly<Record<(typeof tokenKeys)['collect.tokens'][number], JsonSchema>> = {
  ...ofBoth,
  targets: {
    description: 'Events models that it can send to, or patterns such as raw.*; all by default',
    ...oneOrMore(text),
  },
}

const signedSender: Readonly<Record<(typeof signedSenderKeys)[number], JsonSchema>> = {
  name: { description: 'Name in the log: letters, digits, _ and -', ...NAME },
  target: { description: 'The events model that it posts to', type: 'string', minLength: 1 },
  signature: {
    description: 'github: X-Hub-Signature-256. stripe: Stripe-Signature, which has a time',
    enum: signatureShapes,
  },
  secret: {
    description:
      'A variable of the environment, such as ${WEBHOOK_SECRET}; a list while one is replaced',
    ...oneOrMore({ type: 'string', pattern: `^${REFERENCE}$` }),
  },
  tolerance_seconds: {
    description: 'How far the time in a signature may be from now; 300 by default',
    type: ['integer', 'null'],
    minimum: 1,
    maximum: limits.longestToleranceMs / 1000,
  },
}

const list = (
  description: string,
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema => ({
  description,
  type: ['array', 'null'],
  items: { ...group(members), type: 'object', required },
})

/** Keys that only the file has, and no target. */
export const access: Readonly<Record<AccessKey, JsonSchema>> = {
  'collect.tokens': list('Tokens of senders, with names', ofSender, ['name', 'hash']),
  'collect.webhooks': list('Services that sign their requests', signedSender, [
    'name',
    'target',
    'signature',
    'secret',
  ]),
  'odata.tokens': list('Tokens of readers, with names, sets and rows', ofReader, ['name', 'hash']),
}
