// target/manifest.json and target/run_results.json: what a run knew and did, for other programs.
// Both have `schema_version` 1; members are only ever added under one number. docs/schemas/ has a JSON Schema of each.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CompiledExternal } from '../core/external.ts'
import type { CompiledProject, Lineage, Model } from '../core/model.ts'
import { entitySetName } from '../core/names.ts'
import type { RunSummary } from './ledger.ts'

const SCHEMA_VERSION = 1

export async function writeArtifacts(
  dir: string,
  project: CompiledProject,
  summary: RunSummary,
): Promise<void> {
  await mkdir(dir, { recursive: true })
  const lineage = project.lineage()
  const models = Array.from(project.models.values(), (model) =>
    describeModel(model, lineage.get(model.name) ?? []),
  )
  const sources = (project.external?.tables ?? []).map(describeSource)
  const manifest = { schema_version: SCHEMA_VERSION, models, sources }
  await writeJson(join(dir, 'manifest.json'), manifest)
  await writeJson(join(dir, 'run_results.json'), runResults(summary))
}

export function runResults(summary: RunSummary) {
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

function describeModel(model: Model, lineage: Lineage) {
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

async function writeJson(path: string, document: unknown): Promise<void> {
  await writeFile(`${path}.tmp`, JSON.stringify(document, null, 2) + '\n')
  await rename(`${path}.tmp`, path)
}
