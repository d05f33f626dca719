// Identities: short, stable names for contents.

import { hash } from 'node:crypto'

/** Hexadecimal digits that depend on every part and on their order. The parts are what JSON can print. */
export function hashOf(digits: 16 | 32, parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, digits)
}

/** By which a file that is kept for its owner to look at is told from others. */
export const crcDigits = (crc: number): string => crc.toString(16).padStart(8, '0')
