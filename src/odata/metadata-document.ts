// The $metadata document of a snapshot: written once for each of its forms, and in slices, since that of a thousand sets
// has some megabytes.

import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import { type Conventions, csdlJson, csdlXml, type ProtocolVersion } from './csdl.ts'
import type { EntityModel } from './entity-model.ts'

export interface DocumentForm {
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
  let texts: string[] = []
  let since = performance.now()
  for (const part of parts) {
    texts.push(part)
    if (performance.now() - since < limits.sliceMs) continue
    slices.push(Buffer.from(texts.join('')))
    texts = []
    await nextLoopTurn()
    since = performance.now()
  }
  return Buffer.concat([...slices, Buffer.from(texts.join(''))])
}
