// The $metadata document of a snapshot: written once for each of its forms, and in slices, since that of a thousand sets
// has some megabytes. So has its compressed form, which is cached with it: two kinds in two versions in two codings are
// all there can be, and they are dropped with the snapshot.

import { keepCoded } from '../../../http/content-coding.ts'
import { type Conventions, csdlJson, csdlXml, type ProtocolVersion } from './csdl.ts'
import { inSlices } from '../../../core/time-slices.ts'
import type { EntityModel } from '../../edm/model.ts'

interface DocumentForm {
  readonly kind: 'xml' | 'json'
  readonly version: ProtocolVersion
}

const documents = new WeakMap<EntityModel, Map<string, Promise<Buffer>>>()

/** `conventions` are those of the service, the same each time. */
export function metadataDocument(
  model: EntityModel,
  { kind, version }: DocumentForm,
  conventions: Conventions,
): Promise<Buffer> {
  const forms = documents.get(model) ?? new Map<string, Promise<Buffer>>()
  documents.set(model, forms)
  const form = JSON.stringify([kind, version, conventions.keyAsSegment])
  const parts = () => (kind === 'xml' ? csdlXml : csdlJson)(model, version, conventions)
  const document = forms.get(form) ?? joined(parts())
  forms.set(form, document)
  return document
}

async function joined(parts: Iterable<string>): Promise<Buffer> {
  const slices: Buffer[] = []
  for await (const texts of inSlices(parts)) slices.push(Buffer.from(texts.join('')))
  return keepCoded(Buffer.concat(slices))
}
