// The qualified names of the types of the entity model: `eider.shop_orders`.

export const NAMESPACE = 'eider'

/** Of an entity type or a complex type. */
export const qualifiedName = ({ name }: { readonly name: string }): string => `${NAMESPACE}.${name}`

/** Whether a segment of a path is a cast to this type. No type has a derived one, so such a cast changes nothing. */
export const isCastTo = (segment: string, type: { readonly name: string }): boolean =>
  segment === qualifiedName(type)
