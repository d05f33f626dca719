// A run as events of OpenLineage: START, then COMPLETE, FAIL or ABORT, of the run and of each model that it builds. What a
// model has left says where its rows come from: its columns, and those that each of them is made of.
//
// No value of a row is in an event: messages of failed models may show some, so an event has only their place.

import { randomUUID } from 'node:crypto'
import { hide, type HiddenValue } from '../../core/hidden.ts'
import type { CompiledProject, Lineage, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { tellableFailure } from '../../core/report/failure-place.ts'
import type { ModelResult, RunEvent } from '../../core/report/progress.ts'
import { type DatasetName, datasetNames, fileName, filesReadBy } from './datasets.ts'
import { toldSql } from './told-text.ts'
import { EVENT_SCHEMA, facetsOf } from './facets.ts'

interface EventsOptions {
  readonly project: CompiledProject
  readonly dir: string
  readonly namespace: string
  /** What started this run; null: nobody says. */
  readonly parent: RunName | null
  readonly versions: { readonly eider: string; readonly duckdb: string }
  /** Values that no text of an event may repeat. */
  readonly hidden: readonly HiddenValue[]
  /** The order of events of one job counts. */
  readonly send: (event: object, job: string) => void
  readonly now?: () => Date
}

export interface RunName {
  readonly runId: string
  readonly namespace: string
  readonly name: string
}

type EventType = 'START' | 'COMPLETE' | 'FAIL' | 'ABORT'

interface Told {
  readonly run?: object
  readonly inputs?: readonly object[]
  readonly outputs?: readonly object[]
}

interface TellableEvent {
  readonly run: object
  readonly job: { readonly namespace: string; readonly name: string; readonly facets: object }
  readonly inputs: readonly object[]
  readonly outputs: readonly object[]
}

/** No model has this name: each has a schema. */
const RUN_JOB = 'run'

export class RunEvents {
  readonly #options: EventsOptions
  readonly #facet: ReturnType<typeof facetsOf>
  readonly #producer: string
  readonly #nameOf: (name: string) => DatasetName
  readonly #run: RunName
  readonly #started = new Map<ModelName, string>()
  #lineage: ReadonlyMap<ModelName, Lineage> | null = null
  #eiderRun: string | null = null
  #isInterrupted = false

  constructor(options: EventsOptions) {
    const { project, dir, namespace, versions } = options
    this.#options = options
    this.#producer = `https://www.npmjs.com/package/eider/v/${versions.eider}`
    this.#facet = facetsOf(this.#producer)
    this.#nameOf = datasetNames(project, namespace, dir)
    this.#run = { runId: randomUUID(), namespace, name: RUN_JOB }
  }

  note(event: RunEvent): void {
    switch (event.event) {
      case 'run-started':
        this.#eiderRun = event.run_id
        this.#sendRun('START')
        break
      case 'model-started':
        this.#start(event.model, 0)
        break
      case 'model-finished':
        this.#finish(event)
        break
      default:
    }
  }

  /** `ok`: null where the run ended with an error. */
  end(ok: boolean | null): void {
    if (this.#eiderRun === null) return // refused before it began
    const type = ok === true ? 'COMPLETE' : this.#isInterrupted ? 'ABORT' : 'FAIL'
    for (const [model, runId] of this.#started) this.#sendModel('ABORT', model, runId)
    this.#started.clear()
    this.#sendRun(type)
  }

  #start(model: ModelName, ms: number): string {
    const known = this.#started.get(model)
    if (known !== undefined) return known
    const runId = randomUUID()
    this.#started.set(model, runId)
    this.#sendModel('START', model, runId, {}, ms)
    return runId
  }

  /** A model is ended once, also where its event cannot be made. */
  #finish(result: ModelResult): void {
    try {
      this.#tellEnd(result)
    } finally {
      this.#started.delete(result.model)
    }
  }

  #tellEnd(result: ModelResult): void {
    const { model, status, because, ms } = result
    if (status === 'skipped') {
      this.#isInterrupted ||= because === 'interrupted'
      const runId = this.#started.get(model)
      if (runId !== undefined) this.#sendModel('ABORT', model, runId)
    } else if (status === 'failed') {
      const message = tellableFailure(because)
      const errorMessage = this.#facet('ErrorMessageRunFacet', {
        message,
        programmingLanguage: 'SQL',
      })
      this.#sendModel('FAIL', model, this.#start(model, ms), { run: { errorMessage } })
    } else if (status === 'built') {
      const runId = this.#start(model, ms)
      const of = this.#options.project.models.get(model)
      this.#sendModel('COMPLETE', model, runId, of === undefined ? {} : this.#madeOf(of, result))
    }
  }

  #tell(text: string): string {
    return hide(text, this.#options.hidden)
  }

  /** What a model has read and left. */
  #madeOf(model: Model, { rows }: ModelResult): Told {
    const facet = this.#facet
    const { description, owner, columns } = model
    const fields = this.#columnLineage(model)
    const facets = {
      schema: this.#schemaOf(columns),
      ...(fields === null ? {} : { columnLineage: facet('ColumnLineageDatasetFacet', { fields }) }),
      ...(description === null
        ? {}
        : {
            documentation: facet('DocumentationDatasetFacet', {
              description: this.#tell(description),
            }),
          }),
      ...(owner === null
        ? {}
        : { ownership: facet('OwnershipDatasetFacet', { owners: [{ name: this.#tell(owner) }] }) }),
    }
    const counted =
      rows === undefined
        ? {}
        : {
            outputFacets: {
              outputStatistics: facet('OutputStatisticsOutputDatasetFacet', { rowCount: rows }),
            },
          }
    return { outputs: [{ ...this.#nameOf(model.name), facets, ...counted }] }
  }

  #schemaOf(columns: readonly Column[]): object {
    const fields = columns.map(({ name, type, description }, i) => {
      const said = description === undefined ? {} : { description: this.#tell(description) }
      return { name, type, ordinal_position: i + 1, ...said }
    })
    return this.#facet('SchemaDatasetFacet', { fields })
  }

  /** null: it reads nothing. A column of which it is not known is left out. */
  #columnLineage({ name, columns }: Model): object | null {
    this.#lineage ??= this.#options.project.lineage()
    const origins = this.#lineage.get(name)
    if (origins === undefined) return null
    const fields = columns.flatMap((column, i) => {
      const from = origins[i]
      if (from == null || from.length === 0) return []
      const inputFields = from.map((origin) => {
        return { ...this.#nameOf(origin.model), field: origin.column }
      })
      return [[column.name, { inputFields }] as const]
    })
    return fields.length === 0 ? null : Object.fromEntries(fields)
  }

  #inputsOf(model: Model): readonly object[] {
    const { project, dir } = this.#options
    const { external } = project
    const tables = model.sources.map((name) => {
      const columns = external?.tables.find((table) => table.name === name)?.columns ?? []
      const facets = columns.length === 0 ? {} : { facets: { schema: this.#schemaOf(columns) } }
      return { ...this.#nameOf(name), ...facets }
    })
    const files = filesReadBy(model, project).map((file) => fileName(file, dir))
    return [...model.dependsOn.map(this.#nameOf), ...tables, ...files]
  }

  #sendModel(type: EventType, name: ModelName, runId: string, told: Told = {}, ms = 0): void {
    const { project, namespace } = this.#options
    const model = project.models.get(name)
    const { run: more, ...made } = told
    const facets = { parent: this.#parentFacet(this.#run), ...more }
    const inputs = model === undefined ? [] : this.#inputsOf(model)
    this.#send(type, ms, {
      run: { runId, facets },
      job: { namespace, name, facets: this.#jobFacets('MODEL', model) },
      inputs,
      outputs: [this.#nameOf(name)],
      ...made,
    })
  }

  #sendRun(type: EventType): void {
    const { parent } = this.#options
    const { runId, namespace, name } = this.#run
    const tags = [{ key: 'run_id', value: this.#eiderRun, source: 'eider' }]
    const { eider, duckdb } = this.#options.versions
    const engine = { name: 'DuckDB', version: duckdb, openlineageAdapterVersion: eider }
    const facets = {
      ...(parent === null ? {} : { parent: this.#parentFacet(parent) }),
      processing_engine: this.#facet('ProcessingEngineRunFacet', engine),
      tags: this.#facet('TagsRunFacet', { tags }),
    }
    const job = { namespace, name, facets: this.#jobFacets('RUN') }
    this.#send(type, 0, { run: { runId, facets }, job, inputs: [], outputs: [] })
  }

  #parentFacet({ runId, namespace, name }: RunName): object {
    return this.#facet('ParentRunFacet', { run: { runId }, job: { namespace, name } })
  }

  #jobFacets(jobType: 'RUN' | 'MODEL', model?: Model): object {
    const jobTypeFacet = this.#facet('JobTypeJobFacet', {
      processingType: 'BATCH',
      integration: 'EIDER',
      jobType,
    })
    if (model === undefined || !('body' in model)) return { jobType: jobTypeFacet }
    // As it is written: a variable may stand for a secret.
    const { source, span } = model.body
    const query = this.#tell(toldSql(source.text.slice(span.start, span.end)))
    return { jobType: jobTypeFacet, sql: this.#facet('SQLJobFacet', { query, dialect: 'duckdb' }) }
  }

  /** `ms`: so long ago. */
  #send(eventType: EventType, ms: number, told: TellableEvent): void {
    const now = this.#options.now?.() ?? new Date()
    const eventTime = new Date(now.getTime() - ms).toISOString()
    const event = {
      eventType,
      eventTime,
      ...told,
      producer: this.#producer,
      schemaURL: EVENT_SCHEMA,
    }
    this.#options.send(event, told.job.name)
  }
}
