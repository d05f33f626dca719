// Answers as JSON: rows, one row or value, and documents.

import {
  withAnnotations,
  withControlInformation,
  withNeededIds,
} from '../../bind/control-information.ts'
import type { BoundQuery } from '../../bind/bound-request.ts'
import type { JsonFormat, ODataVersion } from '../../protocol/negotiate.ts'
import { contextUrl, type Exchange, whole } from '../context.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { answerDelta } from './delta.ts'
import { answerEntity, answerProperty } from './single-row.ts'
import { metadataDocument } from './csdl.ts'
import { openApiDocument } from './openapi.ts'
import { answerPage } from './page.ts'
import { vocabularyDocument } from './vocabularies.ts'

export const json: AnswerFormat<'json'> = async (exchange, bound) => {
  const { request, model, service, since, chosen } = exchange
  const { metadata } = chosen.json
  switch (bound.kind) {
    case 'service-document':
      return whole(serviceDocument(exchange, metadata === 'none'))
    case 'metadata': {
      const form = { kind: 'json', version: request.version } as const
      return whole(await metadataDocument(model, form, service.conventions))
    }
    case 'openapi':
      return whole(await openApiDocument(model, { ...service, root: request.root }))
    case 'vocabulary':
      return whole(vocabularyDocument(bound.file))
    case 'property':
      return await answerProperty(exchange, bound)
    default:
      break
  }
  const query = added[metadata](withAnnotations(bound.query), request.version)
  const rows = { ...bound, query }
  if (bound.kind === 'entity') return await answerEntity(exchange, rows)
  return await (since === null ? answerPage : answerDelta)(exchange, rows)
}

type AddControlInformation = (query: BoundQuery, version: ODataVersion) => BoundQuery

const added: Readonly<Record<JsonFormat['metadata'], AddControlInformation>> = {
  none: (query) => query,
  minimal: withNeededIds,
  full: withControlInformation,
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
