// Facets of OpenLineage: the members of an event that have a schema of their own, each with its version.

const versions = {
  ColumnLineageDatasetFacet: '1-2-0',
  DocumentationDatasetFacet: '1-1-0',
  ErrorMessageRunFacet: '1-0-1',
  JobTypeJobFacet: '2-0-4',
  OutputStatisticsOutputDatasetFacet: '1-0-2',
  OwnershipDatasetFacet: '1-0-1',
  ParentRunFacet: '1-2-0',
  ProcessingEngineRunFacet: '1-1-1',
  SQLJobFacet: '1-1-0',
  SchemaDatasetFacet: '1-2-0',
  TagsRunFacet: '1-0-0',
} as const

type FacetName = keyof typeof versions

export const EVENT_SCHEMA = 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'

/** `producer`: the URL of what makes the facet, with its version. */
export const facetsOf =
  (producer: string) =>
  (name: FacetName, members: Readonly<Record<string, unknown>>): object => ({
    _producer: producer,
    _schemaURL: `https://openlineage.io/spec/facets/${versions[name]}/${name}.json#/$defs/${name}`,
    ...members,
  })
