// Name of the directory of a target: `<schema>.<table>`, in which every byte of the UTF-8 text outside a-z, 0-9, `_`,
// `-` and the dot between the parts is `%` and two small hexadecimal digits. Capital letters are escaped too, because
// some disks do not tell `Orders` from `orders`; and so is `%` itself, and whatever a pattern of file names could mean.

import { parseModelName, type ModelName } from '../core/names.ts'

export function directoryName(target: ModelName): string {
  let name = ''
  for (const byte of Buffer.from(target)) {
    const char = String.fromCharCode(byte)
    name += /[a-z0-9_.-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`
  }
  return name
}

/** null for a name that `directoryName` does not make. */
export function parseDirectoryName(name: string): ModelName | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(name)
  } catch {
    return null
  }
  const target = parseModelName(decoded)
  return target !== null && directoryName(target) === name ? target : null
}
