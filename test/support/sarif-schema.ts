// The part of the SARIF 2.1.0 schema (https://json.schemastore.org/sarif-2.1.0.json) that eider's logs use: what it
// requires, the types, and the lists of words.

import type { Schema } from './json-schema.ts'

const text: Schema = { type: 'string' }
const message: Schema = { type: 'object', required: ['text'], properties: { text } }
const fromOne: Schema = { type: 'integer', minimum: 1 }

const region: Schema = {
  type: 'object',
  properties: {
    startLine: fromOne,
    startColumn: fromOne,
    endLine: fromOne,
    endColumn: fromOne,
  },
}

const physicalLocation: Schema = {
  type: 'object',
  required: ['artifactLocation'],
  properties: {
    artifactLocation: { type: 'object', properties: { uri: text, uriBaseId: text } },
    region,
  },
}

const result: Schema = {
  type: 'object',
  // Code scanning shows no result without a rule or a location, though the schema asks for the message alone.
  required: ['message', 'ruleId', 'locations'],
  properties: {
    ruleId: text,
    ruleIndex: { type: 'integer', minimum: 0 },
    level: { enum: ['none', 'note', 'warning', 'error'] },
    message,
    locations: { type: 'array', items: { type: 'object', properties: { physicalLocation } } },
  },
}

const driver: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    version: text,
    rules: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'shortDescription'],
        properties: { id: text, shortDescription: message },
      },
    },
  },
}

export const sarifSchema: Schema = {
  type: 'object',
  required: ['version', 'runs'],
  properties: {
    $schema: text,
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['tool', 'results'],
        properties: {
          tool: { type: 'object', required: ['driver'], properties: { driver } },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: { type: 'array', items: result },
        },
      },
    },
  },
}
