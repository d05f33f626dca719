// An object of a lake that is gone, cut short, or holds other bytes than were written, as far as the engine notices:
// Parquet of DuckDB has no checksums, so most bits that flip give a wrong value, and no error (docs/scale-out.md). Each
// part of an encrypted object has one.

import type { LakeTarget } from '../../core/lake.ts'
import type { DatabaseError } from '../../duckdb/errors.ts'
import { DamagedRowsError } from '../table-storage.ts'

/** Names that DuckLake gives, within a path or a URL. */
const OBJECT = /[^\s'"]*\/(?:data_)?ducklake-[0-9a-f-]+\.parquet/

const GONE = /^HTTP (?:GET|HEAD) error (?!.*NoSuchBucket).*\(HTTP 404\b/s

/** A range of bytes beyond the end; servers that answer with fewer bytes are suspected of not knowing ranges. */
const CUT_SHORT =
  /^HTTP (?:GET|HEAD) error .*\(HTTP 416\b|^Content-Length from server mismatches requested range|^Could not read enough bytes from file|too small to be a Parquet file/s

/** Those of the Parquet reader; some name no file. */
const OTHER_BYTES =
  /^Failed to read file "|^No magic bytes found at end of file|in Parquet file\b|^Malformed Parquet schema|metadata is corrupt|corrupt file\?|^Parquet file is likely corrupted|^Out of buffer$|TProtocolException|^Data corruption detected|^Dictionary is corrupted|Computed AES tag differs from read AES tag/

/** null: it says nothing of that. */
export function damageOf(error: DatabaseError, { store }: LakeTarget): DamagedRowsError | null {
  const { message } = error.details
  const what = GONE.test(message)
    ? 'is gone from the store'
    : CUT_SHORT.test(message)
      ? 'is cut short'
      : OTHER_BYTES.test(message)
        ? 'is damaged'
        : null
  if (what === null) return null
  const url = OBJECT.exec(message)?.[0]
  // A file that a model reads by its name is not the lake's.
  if (url === undefined && /["'][^"']+["']/.test(message)) return null
  const name = url === undefined ? 'DuckDB does not say which' : keyOf(url, store.data)
  return new DamagedRowsError(`an object of the lake ${what}: ${name}`, {
    hint: HINT,
    cause: error,
  })
}

/** Below the prefix of the lake, where the directories are those of the schema and the table. */
function keyOf(url: string, data: string): string {
  const prefix = data.replace(/^s3:\/\/[^/]*/, '')
  const at = url.indexOf(prefix, url.indexOf('//') + 2)
  return at < 0 ? url.slice(url.lastIndexOf('/') + 1) : url.slice(at + prefix.length)
}

const HINT =
  'put it back from the versions of the bucket, or build what lies in it: eider run MODEL --full-refresh'
