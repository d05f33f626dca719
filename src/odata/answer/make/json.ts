// Answers as JSON: rows, one row or value, and documents.

import { withControlInformation } from '../../bind/control-information.ts'
import { contextUrl, type Exchange, whole } from '../context.ts'
import type { AnswerFormat, RequestFor } from '../choose/representation.ts'
import { answerDelta } from './delta.ts'
import { answerEntity, answerProperty } from './single-row.ts'
import { metadataDocument } from './csdl.ts'
import { answerPage } from './page.ts'
import { vocabularyDocument } from './vocabularies.ts'

export const json: AnswerFormat<RequestFor<'json'>> = {
  async make(exchange, bound, { json: format, preferences }) {
    const { request, model, service, since } = exchange
    switch (bound.kind) {
      case 'service-document':
        return whole(serviceDocument(exchange, format.metadata === 'none'))
      case 'metadata': {
        const form = { kind: 'json', version: request.version } as const
        return whole(await metadataDocument(model, form, service))
      }
      case 'vocabulary':
        return whole(vocabularyDocument(bound.file))
      case 'property':
        return await answerProperty(exchange, bound, format)
      default:
        break
    }
    const query =
      format.metadata === 'full'
        ? withControlInformation(bound.query, request.version)
        : bound.query
    const rows = { ...bound, query }
    if (bound.kind === 'entity') return await answerEntity(exchange, rows, format)
    return since === null
      ? await answerPage(exchange, rows, format, preferences)
      : await answerDelta(exchange, rows, format, preferences)
  },
}

function serviceDocument({ request, model }: Exchange, isBare: boolean): string {
  const context = isBare ? {} : { '@odata.context': contextUrl(request) }
  const sets = Array.from(model.sets.values(), ({ name, relation }) => ({
    name,
    kind: 'EntitySet',
    url: name,
    ...(relation.description === null ? {} : { title: relation.description }),
  }))
  return JSON.stringify({ ...context, value: sets })
}
