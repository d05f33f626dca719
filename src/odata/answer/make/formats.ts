// All formats of answers. A format that is missing here does not compile.

import type { FormatName } from '../../protocol/formats.ts'
import type { AnswerFormat, RequestFor } from '../choose/representation.ts'
import { csv } from './csv.ts'
import { json } from './json.ts'
import { parquet } from './parquet.ts'
import { bytes, text } from './single-row.ts'
import { xml } from './xml.ts'

export const answerFormats: { readonly [F in FormatName]: AnswerFormat<RequestFor<F>> } = {
  json,
  xml,
  csv,
  parquet,
  text,
  bytes,
}
