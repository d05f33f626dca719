// Colours, on a terminal only; off by --no-color and NO_COLOR (https://no-color.org).

import { styleText } from 'node:util'

export type Style = 'red' | 'green' | 'yellow' | 'dim'
export type Paint = (style: Style, text: string) => string

export const plain: Paint = (_style, text) => text

export function paintFor(stream: NodeJS.WriteStream, options: { readonly colour: boolean }): Paint {
  const wanted = options.colour && stream.isTTY && !process.env['NO_COLOR']
  return wanted ? (style, text) => styleText(style, text) : plain
}
