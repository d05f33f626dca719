// Where a failure of a model is, by its message.

/** A failure begins with its place, where one is known. */
export function placeIn(because: string) {
  const [, path, at, column, message] = /^(.+?):(\d+):(\d+): (.*)$/s.exec(because) ?? []
  if (path === undefined || message === undefined) return null
  return { path, line: Number(at), column: Number(column), message }
}

/** What may be told to others: messages may show values of rows, which can look like a place. A path has no space. */
export function tellableFailure(because: string): string {
  const place = placeIn(because)
  if (place === null || /[\s:]/.test(place.path)) return 'the model failed'
  return `${place.path}:${place.line}:${place.column}`
}
