// How many files a folder of a project may have: far more than a project that people work on, and few enough for a machine.

import { grouped } from '../core/counts.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { wholeFile } from '../core/source-text.ts'

/** A check of 20,000 small models takes ten seconds and half a GB; that of five times as many, minutes and several GB. */
export const FOLDER_FILES = 20_000

const HINTS: Readonly<Record<string, string>> = {
  models: 'tables that differ in little are one model with a column that tells them apart',
  seeds: 'read many files as one table of a source, by a pattern in eider.yml',
  macros: 'a file may define several macros',
  checks: 'a check of one model is a line @check in its header',
  tests: 'put several cases into the rows of one test',
}

/** Throws DiagnosticsError where the folder has more than it may. */
export function requireFewFiles(folder: string, files: number): void {
  if (files <= FOLDER_FILES) return
  const problem = `the folder has ${grouped(files)} files or more, and at most ${grouped(FOLDER_FILES)} are read`
  const hint = HINTS[folder] ?? 'move the others out of it'
  throw new DiagnosticsError([diagnostic('unreadable-file', { problem }, wholeFile(folder), hint)])
}
