// Projects for tests, compiled from texts: no directory is needed as long as no model reads a file.

import { tmpdir } from 'node:os'
import { compile } from '../../src/compiler/compile.ts'
import { DiagnosticsError } from '../../src/core/diagnostics.ts'
import type { CompiledProject, Model } from '../../src/core/model.ts'
import { positionOf } from '../../src/core/source-text.ts'
import { modelName } from './model-name.ts'

export type Texts = Readonly<Record<string, string>>

/** By their texts. Runs of one test, and rows of a table, compile the same ones: each time opens an engine. */
const compiled = new Map<string, CompiledProject>()
const COMPILED = 50
/** What is compiled of these may be another thing the next time. */
const readsFiles = /read_|glob\(|FROM\s+'/i

/** Texts by model name; those named `macros/…` are macro files. */
export async function compileTexts(texts: Texts, dir = tmpdir()): Promise<CompiledProject> {
  const key = JSON.stringify([dir, texts])
  const known = compiled.get(key)
  if (known !== undefined) return known
  const project = await compileAnew(texts, dir)
  if (readsFiles.test(key)) return project
  if (compiled.size === COMPILED) compiled.clear()
  compiled.set(key, project)
  return project
}

async function compileAnew(texts: Texts, dir: string): Promise<CompiledProject> {
  const files = Object.entries(texts)
  const isMacro = ([name]: [string, string]) => name.startsWith('macros/')
  return compile(
    {
      models: files
        .filter((file) => !isMacro(file))
        .map(([name, text]) => ({
          name: modelName(name),
          source: { path: `models/${name.replace('.', '/')}.sql`, text },
        })),
      seeds: [],
      macros: files.filter(isMacro).map(([path, text]) => ({ path, text })),
    },
    { dir },
  )
}

/** The only model of a project. */
export async function compileOne(text: string): Promise<Model> {
  return modelOf(await compileTexts({ 'a.model': text }), 'a.model')
}

export function modelOf({ models }: CompiledProject, name: string): Model {
  const model = models.get(modelName(name))
  if (model === undefined) throw new Error(`${name} was not compiled`)
  return model
}

/** What is wrong, as `name:line:column code`. Throws when nothing is. */
export async function mistakesOf(texts: Texts): Promise<readonly string[]> {
  try {
    await compileTexts(texts)
  } catch (error) {
    if (!(error instanceof DiagnosticsError)) throw error
    return error.diagnostics.map(({ code, source, span }) => {
      const { line, column } = positionOf(source, span.start)
      const name = source.path
        .replace(/^models\//, '')
        .replace(/\.sql$/, '')
        .replace('/', '.')
      return `${name}:${line}:${column} ${code}`
    })
  }
  throw new Error('nothing is wrong')
}
