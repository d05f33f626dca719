// The namespaces of the vocabularies whose terms $metadata uses.

export const CORE = 'Org.OData.Core.V1'
export const CAPABILITIES = 'Org.OData.Capabilities.V1'
export const AGGREGATION = 'Org.OData.Aggregation.V1'
export const MEASURES = 'Org.OData.Measures.V1'
export const COMMON = 'com.sap.vocabularies.Common.v1'

/** Each set has dozens of names of this one, so they are written with its usual alias. */
export const UI = { name: 'com.sap.vocabularies.UI.v1', alias: 'UI' } as const
