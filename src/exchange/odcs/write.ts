// Exposed sets as a contract of the Open Data Contract Standard 3.1.

import { neverNullBy, promisedColumns } from '../../compiler/contract.ts'
import { entitySetName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Exported, type ExposedModel, FIRST_VERSION } from '../format.ts'
import { type QualityRules, rulesOf } from './quality.ts'
import { logicalOf } from './types.ts'

const ODCS_VERSION = 'v3.1.0'

export function writeContract({ name, models, url, version = FIRST_VERSION }: Exported): object {
  const sets = new Set<string>(models.map((model) => entitySetName(model.name)))
  const owners = new Set(models.flatMap(({ owner }) => owner ?? []))
  const [owner] = owners
  const promises = models.flatMap((model) => {
    const { fresh } = model
    if (fresh === undefined) return []
    const element = entitySetName(model.name)
    return [{ property: 'latency', value: fresh.seconds, unit: 's', element }]
  })
  return {
    apiVersion: ODCS_VERSION,
    kind: 'DataContract',
    id: name,
    name,
    version,
    status: 'active',
    servers: [{ server: 'odata', type: 'api', location: url, description: 'OData 4.01' }],
    ...(owners.size === 1 ? { team: { name: owner } } : {}),
    schema: models.map((model) => setOf(model, sets)),
    ...(promises.length === 0 ? {} : { slaProperties: promises }),
  }
}

function setOf(model: ExposedModel, sets: ReadonlySet<string>): object {
  const { name, kind, description, tags, owner, expose, columns, checks } = model
  const rules = rulesOf(checks, sets)
  const promised = promisedColumns(kind, expose.key, columns, neverNullBy(checks))
  const properties = promised.map((column) => propertyOf(column, expose.key, rules))
  return {
    name: entitySetName(name),
    physicalName: name,
    logicalType: 'object',
    physicalType: kind === 'view' ? 'view' : 'table',
    ...(description === null ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...customOf({ owner }),
    properties,
    ...(rules.ofSet.length === 0 ? {} : { quality: rules.ofSet }),
  }
}

function propertyOf(column: Column, key: readonly string[], rules: QualityRules): object {
  const { name, type, nullable, label, description, unit, format } = column
  const position = key.indexOf(name) + 1
  const logical = logicalOf(type)
  const quality = rules.ofColumns.get(name) ?? []
  const references = (rules.references.get(name) ?? []).map((to) => ({ type: 'foreignKey', to }))
  return {
    name,
    ...(label === undefined ? {} : { businessName: label }),
    ...(logical === null ? {} : { logicalType: logical }),
    physicalType: type,
    ...(description === undefined ? {} : { description }),
    ...(nullable ? {} : { required: true }),
    ...(position === 0 ? {} : { primaryKey: true, primaryKeyPosition: position }),
    ...(references.length === 0 ? {} : { relationships: references }),
    ...customOf({ unit, format }),
    ...(quality.length === 0 ? {} : { quality }),
  }
}

function customOf(values: Readonly<Record<string, string | null | undefined>>): object {
  const customProperties = Object.entries(values).flatMap(([property, value]) =>
    value == null ? [] : [{ property, value }],
  )
  return customProperties.length === 0 ? {} : { customProperties }
}
