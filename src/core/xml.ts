const entityOf: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

export const xmlEntity = (sign: string): string => entityOf[sign]!

/** `signs`: what stands in the way. Within an element that is less than in an attribute. */
export const escapeXml = (text: string, signs = /[&<>"]/g): string =>
  text.replaceAll(signs, xmlEntity)
