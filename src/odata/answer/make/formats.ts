// All formats of answers, each of which is a function in a file here. A format that is missing does not compile.

import type { FormatName } from '../../protocol/formats.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { arrow } from './arrow.ts'
import { csv } from './csv.ts'
import { json } from './json.ts'
import { parquet } from './parquet.ts'
import { bytes, text } from './single-row.ts'
import { xlsx } from './xlsx.ts'
import { xml } from './xml.ts'

export const answerFormats: { readonly [F in FormatName]: AnswerFormat<F> } = {
  json,
  xml,
  csv,
  parquet,
  arrow,
  xlsx,
  text,
  bytes,
}
