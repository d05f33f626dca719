// A number of bytes for people.

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

export function byteText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? value : value.toPrecision(3)} ${UNITS[power]}`
}
