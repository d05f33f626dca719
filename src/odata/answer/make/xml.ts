// Documents in XML: $metadata, and the vocabularies that it refers to.

import { negotiateCsdlVersion } from '../../protocol/negotiate.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { whole } from '../context.ts'
import { metadataDocument } from './csdl.ts'
import { vocabularyDocument } from './vocabularies.ts'

export const xml: AnswerFormat<'xml'> = async ({ request, model, service }, bound) => {
  if (bound.kind === 'vocabulary') return whole(vocabularyDocument(bound.file))
  const form = { kind: 'xml', version: negotiateCsdlVersion(request.headers) } as const
  return whole(await metadataDocument(model, form, service.conventions))
}
