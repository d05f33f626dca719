// Functions of a union as tables: of each member, by the name that tells it, what is done with it. A member that is missing
// does not compile.

const byTag =
  <Tag extends string>(tag: Tag) =>
  <T extends { readonly [_ in Tag]: string }, R, Rest extends readonly unknown[] = []>(rows: {
    readonly [Name in T[Tag]]: (one: T & { readonly [_ in Tag]: Name }, ...rest: Rest) => R
  }) =>
  (one: T, ...rest: Rest): R =>
    (rows[one[tag] as T[Tag]] as (one: T, ...rest: Rest) => R)(one, ...rest)

export const byKind = byTag('kind')
export const byIs = byTag('is')
export const byEvent = byTag('event')
