// Numbers of things in sentences.

// Not by toLocaleString(), which takes longer to get ready than a small model to build.
export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 row`, `12,400 rows`. */
export const count = (n: number, noun: string): string =>
  `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`
