// Questions from within the process: answered by the stages that answer a GET over HTTP, for the same reader.

import type { AskedService, SeenState, SetShape } from '../../http/side-door.ts'
import { Resources } from '../../core/resources.ts'
import { limits } from '../../core/limits.ts'
import { odataError, unsupported } from '../protocol/errors.ts'
import type { ServiceContext } from './context.ts'
import { answerGet } from './get.ts'
import type { EntityModel } from '../edm/model.ts'
import { targetBelowRoot } from '../protocol/service-root.ts'

interface Asking {
  readonly root: string
  readonly gone: AbortSignal
  /** Called with the rows of each answer. */
  readonly onRows: (rows: number) => void
}

/** `service` is the one of who asks, as seenBy() gives it. */
export function askWithin(service: ServiceContext, asking: Asking): AskedService {
  const { root, gone, onRows } = asking
  return {
    root,
    gone,
    seen: () => seen(service),
    async get({ target, headers, gone: given }, read) {
      const below = targetBelowRoot(target, root)
      if (/^\/?(?:\$|%24)batch(?:[/?]|$)/i.test(below))
        throw unsupported('$batch within one request')
      if (root.length + below.length > limits.urlBytes)
        throw odataError('url-too-long', `the URL is longer than ${limits.urlBytes} bytes`)
      await using resources = new Resources()
      const request = { target: below, headers, version: '4.01', root, gone: given } as const
      const answer = await answerGet(service, request, resources)
      const result = await read({ ...answer, url: root + below.replace(/^\//, '') })
      onRows(answer.rows())
      return result
    },
  }
}

async function seen({ snapshots, reader }: ServiceContext): Promise<SeenState | null> {
  if (snapshots.published === null) return null
  await using leased = snapshots.lease()
  const { snapshot, model } = await snapshots.viewOf(leased, reader)
  return { snapshot, part: reader.key, shapeOf: (set) => shapeOf(model, set) }
}

function shapeOf({ sets }: EntityModel, name: string): SetShape | null {
  const set = sets.get(name)
  if (set === undefined) return null
  const { key, properties, navigation, measures, dimensions, levels, hierarchies } = set.type
  return {
    key: key.map((part) => part.name),
    properties: properties.map(({ name: property, type, nullable, column }) => ({
      name: property,
      type: type.name,
      nullable,
      description: column.description ?? null,
    })),
    measures: measures.map(({ name: called, type, measure }) => ({
      name: called,
      type: type.name,
      text: measure.text,
      unit: measure.unit ?? null,
      description: measure.description ?? null,
    })),
    dimensions,
    levels,
    trees: hierarchies.map(({ name: called, node }) => ({ name: called, node: node.name })),
    navigation: navigation.map(({ name: to, target, many }) => ({
      name: to,
      target: target.name,
      many,
    })),
  }
}
