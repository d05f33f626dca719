// Names as patterns.

/** A regular expression that finds this very text. */
export const literalPattern = (text: string): string =>
  text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')

/** Finds whole texts; `*` stands for any. */
export const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split('*').map(literalPattern).join('.*')}$`, 's')
