// Which stored tables a column of a model can follow: where rows of them change, the values of their own column say
// which values of that column the change can touch. Views are looked through.

import { kinds } from '../../core/kinds.ts'
import type { Trail, TrailStep } from '../../core/addresses.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import type { ColumnType } from '../../core/relation.ts'

/** A column of a stored table whose values lead to those of another by these steps. */
export interface Followed {
  readonly model: ModelName
  readonly column: string
  readonly type: ColumnType
  readonly steps: readonly TrailStep[]
}

/** What is read and cannot be followed, with the reason. */
export interface Unfollowed {
  readonly name: string
  readonly because: 'outside' | 'no-column' | 'shared' | 'volatile'
}

interface Following {
  readonly followed: readonly Followed[]
  readonly others: readonly Unfollowed[]
  /** Rows may depend on rows with other values of the column. */
  readonly looksAround: boolean
  /** A change of rows may touch rows with other values of the column than they have: no window is of one value of it. */
  readonly touchesOthers: boolean
  /** A row may go because another one has come, which was picked in place of it and then left out. */
  readonly dropsPicked: boolean
  /** A view by whose windows a row has values of rows with other values of the column. */
  readonly window: ModelName | null
}

/** Whether rows of the model stand for several of a table, so that one goes when the last of those does. */
export function isGrouped(project: CompiledProject, model: Model): boolean {
  const own = project.trails().get(model.name)
  if (own === undefined || own.isGrouped) return own !== undefined
  return own.uses.some(({ name }) => {
    const input = project.models.get(name as ModelName)
    return input?.kind === 'view' && isGrouped(project, input)
  })
}

/** Whether more rows of what the model reads make more rows of it, and change none that are there. */
export function addsOnly(project: CompiledProject, model: Model): boolean {
  const own = project.trails().get(model.name)
  if (own === undefined || own.uses.length !== 1 || own.isGrouped || own.looksAround) return false
  const input = project.models.get(own.uses[0]!.name as ModelName)
  return input?.kind !== 'view' || addsOnly(project, input)
}

/** `column`: one of the model by which it reads only a part of its input. */
export function follow(project: CompiledProject, model: Model, column: string): Following {
  const found = followColumn({ project, open: new Set() }, model, column)
  const type = model.columns.find(({ name }) => sameName(name, column))?.type
  const [followed, wrong] = [[] as Followed[], [] as Unfollowed[]]
  for (const one of found.followed)
    if (type !== undefined && keepsOrder(one, type)) followed.push(one)
    else wrong.push({ name: one.model, because: 'no-column' })
  const others = [...found.others, ...wrong, ...readOtherwise(project, model)]
  const once = new Map(others.map((one) => [one.name, one]))
  return { ...found, followed: distinct(followed), others: [...once.values()] }
}

const distinct = (all: readonly Followed[]): readonly Followed[] => [
  ...new Map(all.map((one) => [JSON.stringify(one), one])).values(),
]

const NOTHING: Following = {
  followed: [],
  others: [],
  looksAround: false,
  touchesOthers: false,
  dropsPicked: false,
  window: null,
}

interface Search {
  readonly project: CompiledProject
  /** Views that are being looked through. */
  readonly open: ReadonlySet<ModelName>
}

function followColumn({ project, open }: Search, model: Model, column: string): Following {
  const trails = project.trails().get(model.name)
  if (trails === undefined) {
    const others = model.dependsOn.flatMap((name) => storedBelow(project, name))
    return { ...NOTHING, others }
  }
  const index = model.columns.findIndex(({ name }) => sameName(name, column))
  const own = trails.columns[index] ?? []
  let { looksAround } = trails
  const { leavesOut } = trails
  let dropsPicked = leavesOut === 'picked'
  let window: ModelName | null = null
  let touchesOthers = looksAround && (trails.addresses.columns[index] ?? []).length === 0
  const followed: Followed[] = []
  const others: Unfollowed[] = []
  for (const [use, { name, isShared }] of trails.uses.entries()) {
    const input = project.models.get(name as ModelName)
    if (input === undefined) {
      others.push({ name, because: 'outside' })
      continue
    }
    const here = own.filter((trail) => trail.use === use)
    if (here.length === 0) others.push(...storedBelow(project, input.name))
    if (isShared)
      others.push(
        ...storedBelow(project, input.name).map((one) => ({ ...one, because: 'shared' as const })),
      )
    for (const trail of here) {
      const through = followInput({ project, open: new Set([...open, model.name]) }, input, trail)
      followed.push(...through.followed)
      others.push(...through.others)
      looksAround ||= through.looksAround
      touchesOthers ||= through.touchesOthers
      window ??= through.window
      dropsPicked ||= through.dropsPicked || (leavesOut !== null && through.looksAround)
    }
  }
  if (trails.hasValuesOfOthers && touchesOthers && model.kind === 'view') window ??= model.name
  return { followed, others, looksAround, touchesOthers, dropsPicked, window }
}

function followInput(search: Search, input: Model, { column, steps }: Trail): Following {
  const { project, open } = search
  if (kinds[input.kind].relation === 'view' && !open.has(input.name)) {
    const found = followColumn(search, input, column)
    const followed = found.followed.map((one) => ({ ...one, steps: [...one.steps, ...steps] }))
    return { ...found, followed, others: [...found.others, ...readOtherwise(project, input)] }
  }
  const own = input.columns.find(({ name }) => sameName(name, column))
  if (own === undefined) return { ...NOTHING, others: storedBelow(project, input.name) }
  const followed = [{ model: input.name, column: own.name, type: own.type, steps }]
  return { ...NOTHING, followed }
}

/** Tables that a model stands for: itself, or those that a view reads. */
function storedBelow(project: CompiledProject, name: ModelName): readonly Unfollowed[] {
  const model = project.models.get(name)
  if (model === undefined || kinds[model.kind].relation !== 'view')
    return [{ name, because: 'no-column' }]
  const inside = model.dependsOn.flatMap((input) => storedBelow(project, input))
  return [...inside, ...outsideOf(model)]
}

const outsideOf = ({ sources, files }: Model): readonly Unfollowed[] =>
  [...sources, ...(sources.length > 0 ? [] : files)].map((name) => ({ name, because: 'outside' }))

/** Files, tables of sources, and what macros read, of which no place in the query tells. */
function readOtherwise(project: CompiledProject, model: Model): readonly Unfollowed[] {
  const uses = project.trails().get(model.name)?.uses ?? []
  const seen = new Set(uses.map(({ name }) => name))
  const checked = new Set(
    model.checks.flatMap(({ test }) => (test.is === 'references' ? [test.model] : [])),
  )
  const hidden = model.dependsOn.filter((name) => !seen.has(name) && !checked.has(name))
  return [...hidden.flatMap((name) => storedBelow(project, name)), ...outsideOf(model)]
}

/** Whether a greater value of the one never leads to a smaller value of the other. */
function keepsOrder({ type, steps }: Followed, to: ColumnType): boolean {
  if (type === to && steps.length === 0) return true
  const casts = steps.flatMap((step) => ('cast' in step ? [step.cast] : []))
  const classes = new Set([type, ...casts, to].map(classOf))
  const [only] = classes
  return classes.size === 1 && only !== null && (only === 'time' || steps.length === casts.length)
}

const NUMBER =
  /^(?:U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL(?:\(\d+,\s*\d+\))?|FLOAT|DOUBLE)$/

function classOf(type: string): 'time' | 'number' | null {
  if (/^(?:DATE$|TIMESTAMP)/.test(type)) return 'time'
  return NUMBER.test(type) ? 'number' : null
}
