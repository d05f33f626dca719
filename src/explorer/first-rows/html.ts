// Pieces of HTML. What stands between them is text and can be nothing else.

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Html | readonly Html[] | null

/** Escapes every value that is not HTML itself, for a place in an element or in an attribute in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(parts.map((part, i) => part + written(values[i] ?? null)).join(''))
}

/** An attribute that is undefined is left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content: string | Html,
): Html {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
  const texts = given.map(([attribute, value]) => ` ${attribute}="${written(value!)}"`)
  return new Html(`<${name}${texts.join('')}>${written(content)}</${name}>`)
}

function written(value: Piece): string {
  if (value === null) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return String(value).replace(/[&<>"]/g, (character) => ENTITIES[character]!)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
