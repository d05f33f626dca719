// Text files of a project: what cannot be read as text becomes a diagnostic with a place and a hint.

import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { type SourceFile, wholeFile } from '../core/source-text.ts'
import { firstInvalid } from '../core/utf8.ts'
import { readFileNow } from '../files/read-file.ts'
import { hintOfSystem, problemOfSystem } from '../files/system-errors.ts'

const MiB = 1024 * 1024

/** What an editor holds of files, by their paths relative to the project directory: it counts in place of the file. */
export type UnsavedTexts = ReadonlyMap<string, string>

/**
 * Text of a file without a byte order mark. Read at once: a thousand small files take four times as long when each of
 * their reads waits for its turn in the thread pool.
 */
export function readSource(
  dir: string,
  path: string,
  limitBytes: number,
  unsaved?: UnsavedTexts,
): SourceFile | Diagnostic {
  const text = unsaved?.get(path)
  if (text !== undefined)
    return text.length > limitBytes ? tooLarge(path, limitBytes) : { path, text }
  let bytes: Buffer
  try {
    bytes = readFileNow(join(dir, path), limitBytes)
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'EFBIG'
    return isLarge ? tooLarge(path, limitBytes) : unreadable(path, error)
  }
  return notText(path, bytes) ?? { path, text: bytes.toString('utf8').replace(/^\uFEFF/, '') }
}

/** null for text in UTF-8. */
export function notText(path: string, bytes: Buffer): Diagnostic | null {
  if (bytes.includes(0)) return withNul(path, bytes)
  return isUtf8(bytes) ? null : notUtf8(path, bytes)
}

function tooLarge(path: string, limitBytes: number): Diagnostic {
  const problem = `the file is larger than ${limitBytes / MiB} MiB`
  const hint = 'data goes into seeds/ or a source; a model is a query'
  return diagnostic('unreadable-file', { problem }, wholeFile(path), hint)
}

/** A file or directory that the system does not let us read. */
export function unreadable(path: string, error: unknown): Diagnostic {
  const problem = problemOfSystem(error, path)
  return diagnostic('unreadable-file', { problem }, wholeFile(path), hintOfSystem(error, path))
}

/** Every second byte of plain text in UTF-16 is a NUL. */
function withNul(path: string, bytes: Buffer): Diagnostic {
  const isUtf16 =
    bytes.subarray(0, 2).equals(Buffer.of(0xff, 0xfe)) ||
    bytes.subarray(0, 2).equals(Buffer.of(0xfe, 0xff)) ||
    bytes.filter((byte) => byte === 0).length * 3 > bytes.length
  const problem = isUtf16
    ? 'the file looks like UTF-16'
    : 'the file has a NUL byte, so it is not text'
  const hint = isUtf16 ? 'save it as UTF-8' : 'save it as text in UTF-8'
  return diagnostic('unreadable-file', { problem }, wholeFile(path), hint)
}

function notUtf8(path: string, bytes: Buffer): Diagnostic {
  // Latin-1 has a character for each byte, so places in it are places in the bytes.
  const text = bytes.toString('latin1')
  const at = firstInvalid(bytes)
  const byte = bytes[at]!.toString(16).toUpperCase().padStart(2, '0')
  const place = { source: { path, text }, span: { start: at, end: at + 1 } }
  const hint = 'it looks like Latin-1 (Windows-1252); save it as UTF-8'
  return diagnostic('unreadable-file', { problem: `the byte ${byte} is not UTF-8` }, place, hint)
}
