import { type ModelName, parseModelName } from '../../src/core/names.ts'

/** `schema.table` as a name; throws for anything else. */
export function modelName(text: string): ModelName {
  const name = parseModelName(text)
  if (name === null) throw new Error(`not a model name: ${text}`)
  return name
}
