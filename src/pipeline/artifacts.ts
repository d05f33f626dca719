// target/manifest.json and target/run_results.json: what a run knew and did, for other programs.
// Both have `schema_version` 1; members are only ever added under one number. docs/schemas/ has a JSON Schema of each.
//
// A manifest of a thousand models takes longer to write than all else of a run with nothing to do, so one is left alone
// if and only if it begins with the identity of this very project, made by this very code, and ends as it should.

import { mkdir, open, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CompiledExternal } from '../core/sources.ts'
import type { CompiledProject, Lineage, Model } from '../core/model.ts'
import { hashOf } from '../core/hash.ts'
import { entitySetName } from '../core/names.ts'
import { buildStamp } from '../files/package.ts'
import { annotationsOf, type Contents, contentsOf } from './catalog/earlier-manifest.ts'
import type { RunSummary } from '../core/report/progress.ts'

const SCHEMA_VERSION = 1

export async function writeArtifacts(
  dir: string,
  project: CompiledProject,
  summary: RunSummary,
  contents: Contents,
): Promise<void> {
  await mkdir(dir, { recursive: true })
  await writeManifest(join(dir, 'manifest.json'), project, contents)
  await writeJson(join(dir, 'run_results.json'), describeResults(summary))
}

export async function writeManifest(
  path: string,
  project: CompiledProject,
  contents: Contents,
): Promise<void> {
  const heading = { schema_version: SCHEMA_VERSION, ...identityOf(project, contents) }
  if ('project' in heading && (await isFramedBy(path, heading))) return
  const lineage = project.lineage()
  const models = Array.from(project.models.values(), (model) =>
    describeModel(model, lineage.get(model.name) ?? [], contents),
  )
  const sources = (project.external?.tables ?? []).map(describeSource)
  await writeJson(path, { ...heading, models, sources })
}

function identityOf(
  { identity, models }: CompiledProject,
  contents: Contents,
): { readonly project?: string } {
  if (identity === undefined) return {}
  const seeds = [...models.values()].filter(({ kind }) => kind === 'seed')
  const hashes = seeds.map((seed) => contentsOf(seed, contents))
  return { project: hashOf(32, [identity, buildStamp(), hashes]) }
}

/** Whether a file begins with these members and ends as an object does, as writeJson() prints them. */
async function isFramedBy(path: string, heading: object): Promise<boolean> {
  const start = Buffer.from(print(heading).replace(/\n\}\n$/, ',\n'))
  const end = Buffer.from('\n}\n')
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const read = async (length: number, position: number) =>
      (await file.read(Buffer.alloc(length), 0, length, position)).buffer
    if (size < start.length + end.length) return false
    return (
      start.equals(await read(start.length, 0)) &&
      end.equals(await read(end.length, size - end.length))
    )
  } catch {
    return false // it is missing, or cannot be read and is replaced
  }
}

export function describeResults(summary: RunSummary) {
  const { runId, startedAt, ms, ok, flushed, models, snapshot } = summary
  return {
    schema_version: SCHEMA_VERSION,
    run_id: runId,
    started_at: startedAt.toISOString(),
    ms: Math.round(ms),
    ok,
    flushed,
    models: models.map((result) => ({ ...result, ms: Math.round(result.ms) })),
    snapshot,
  }
}

function describeModel(model: Model, lineage: Lineage, contents: Contents) {
  return {
    name: model.name,
    kind: model.kind,
    path: model.source.path,
    description: model.description,
    tags: model.tags,
    owner: model.owner,
    depends_on: model.dependsOn,
    sources: model.sources,
    files: model.files,
    exposed: model.expose !== null,
    entity_set: model.expose === null ? null : entitySetName(model.name),
    key: model.expose?.key ?? null,
    columns: model.columns.map((column, i) => ({ ...column, lineage: lineage[i] ?? null })),
    definition: model.definition,
    annotations: annotationsOf(model),
    contents: contentsOf(model, contents),
  }
}

function describeSource({ name, path, columns, ...table }: CompiledExternal) {
  const { loadedAt, warnAfter, errorAfter } = table
  return {
    name,
    path,
    columns,
    loaded_at: loadedAt,
    warn_after: warnAfter?.text ?? null,
    error_after: errorAfter?.text ?? null,
  }
}

const print = (document: unknown) => JSON.stringify(document, null, 2) + '\n'

async function writeJson(path: string, document: unknown): Promise<void> {
  await writeFile(`${path}.tmp`, print(document))
  await rename(`${path}.tmp`, path)
}
