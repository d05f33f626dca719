/** A function of a union, as a table: of each kind what is done with it. A kind that is missing does not compile. */
export const byKind =
  <T extends { readonly kind: string }, R, Rest extends readonly unknown[] = []>(rows: {
    readonly [K in T['kind']]: (one: T & { readonly kind: K }, ...rest: Rest) => R
  }) =>
  (one: T, ...rest: Rest): R =>
    (rows[one.kind as T['kind']] as (one: T, ...rest: Rest) => R)(one, ...rest)
