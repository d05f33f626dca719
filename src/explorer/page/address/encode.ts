// Percent-encoding for URLs that people read and paste: what RFC 3986 allows in a place stays readable.

/** For names and values of a query. The semicolon is encoded, as some clients end an option at it. */
export function encodeOption(text: string): string {
  return encoded(text).replace(/%(?:24|2C|2F|3A|40|3D)/g, decodeURIComponent)
}

/** A key as OData writes it in parentheses: `7`, or `a=1,b='x'`. A slash in it would begin a new segment. */
export function encodeKey(key: string): string {
  return encoded(key).replace(/%(?:2C|3D|3A)/g, decodeURIComponent)
}

/** Half of a surrogate pair has no encoding; it becomes the sign for what cannot be shown. */
function encoded(text: string): string {
  const wellFormed = text.replace(
    /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    '\uFFFD',
  )
  return encodeURIComponent(wellFormed)
}
