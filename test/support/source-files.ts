// The TypeScript of the repository, and what it imports.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { repository } from './workspace.ts'

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

export function filesBelow(top: string): readonly SourceFile[] {
  return readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => posix.join(top, path.split('\\').join('/')))
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }))
}

export function importsOf(text: string): readonly string[] {
  const code = withoutComments(text)
  const forms = [
    /\bfrom\s+['"]([^'"]+)['"]/g,
    /\bimport\s+['"]([^'"]+)['"]/g,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  ]
  return forms.flatMap((form) => [...code.matchAll(form)].map(([, specifier = '']) => specifier))
}

/** Whole-line comments only; that is where this code base has them when they could be mistaken for code. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
}
