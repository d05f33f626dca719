import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { junitXml } from '../cli/show-test.ts'
import { selectionFlags, selectionOf, variableFlags } from '../cli/shared-flags.ts'
import { duration } from '../cli/run-lines.ts'
import { hasPassed, type ShownTest, testLines, titleOf } from '../cli/show-test.ts'
import { onStop } from '../cli/signals.ts'
import { count } from '../core/counts.ts'
import { UsageError } from '../core/failures.ts'
import type { CompiledProject } from '../core/model.ts'
import { foldCase } from '../core/names.ts'
import type { Recording } from '../pipeline/model-test/record-test.ts'
import type { TestOptions, TestOutcome } from '../pipeline/model-test/run-test.ts'
import type { ModelTest } from '../project/model-tests.ts'
import type { Project } from '../project/project.ts'

type TestFlags = FlagsOf<typeof Test>

interface Opened {
  readonly project: Project
  readonly compiled: CompiledProject
}

export default class Test extends BaseCommand {
  static override summary = 'Build models in memory on the rows in tests/, and compare the result'
  static override examples = [
    '<%= config.bin %> test',
    '<%= config.bin %> test mart.sales',
    '<%= config.bin %> test mart.sales --accept',
    '<%= config.bin %> test --record core.orders newest_wins --where "order_id IN (1, 7)"',
  ]
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...variableFlags,
    accept: Flags.boolean({ summary: 'Write the actual rows to expect.csv wherever they differ' }),
    record: Flags.boolean({
      summary: 'Record a test MODEL NAME from the warehouse rows that --where leads to',
      exclusive: ['accept', 'watch', 'junit', 'select', 'exclude'],
    }),
    where: Flags.string({ summary: 'With --record: the rows of the model, as a condition in SQL' }),
    mask: Flags.string({
      summary: 'With --record: columns whose text is masked, such as email,name',
      dependsOn: ['record'],
    }),
    junit: Flags.string({ summary: 'Also write the results to this file, as JUnit XML' }),
    watch: Flags.boolean({
      summary: 'Keep going: run the tests again when a model or a test is saved',
      exclusive: ['accept'],
    }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Test)
    if (flags.record || flags.where !== undefined) return await this.#record(flags, argv)
    // Before the working directory changes.
    const junit = flags.junit === undefined ? null : resolve(flags.junit)
    const run = async () => {
      const shown = await this.#runAll(flags, argv)
      if (junit !== null) await writeFile(junit, junitXml(shown))
      return shown.every(hasPassed)
    }
    if (flags.watch) {
      using stop = onStop()
      return await this.watch(flags, stop, async () => void (await run()), ['tests'])
    }
    this.exit((await run()) ? 0 : 1)
  }

  async #record(flags: TestFlags, argv: readonly unknown[]): Promise<void> {
    const [model, name, ...others] = argv as readonly string[]
    const { where } = flags
    if (
      !flags.record ||
      model === undefined ||
      name === undefined ||
      others.length > 0 ||
      where === undefined
    )
      throw new UsageError('--record takes a model, a name for the test, and --where', {
        hint: 'such as eider test --record core.orders newest_wins --where "order_id IN (1, 7)"',
      })
    const { recordTest } = await import('../pipeline/model-test/record-test.ts')
    const { readModelTests } = await import('../project/model-tests.ts')
    const { openToRead } = await import('../wiring/reading.ts')
    const mask = flags.mask?.split(',').map((column) => column.trim()) ?? []
    const project = await this.openProject(flags)
    const { dir } = project.paths
    await using reading = await openToRead(project)
    const opened = { project, compiled: reading.project }
    const recording: Recording = {
      project: reading.project,
      connection: reading.connection,
      dir,
      run: async (path, accept) => {
        const test = (await readModelTests(dir)).find((one) => one.path === path)!
        return (await runOne(opened, test, accept)).problem
      },
    }
    const request = { model, name, where, mask }
    const { files, remarks, ...recorded } = await recordTest(recording, request)
    if (flags.json) return this.printEvent({ event: 'test-recorded', ...recorded, files, remarks })
    for (const { path, rows } of files) this.print(`wrote  ${path}  ${count(rows, 'row')}`)
    for (const remark of remarks) this.print(`note   ${remark}`)
  }

  async #runAll(flags: TestFlags, argv: readonly unknown[]): Promise<readonly ShownTest[]> {
    const startedMs = performance.now()
    const first = await this.#open(flags, [])
    const tests = await this.#chosen(first, flags, argv)
    const paint = this.paintFor(flags)
    const width = Math.max(0, ...tests.map((test) => titleOf(shownOf(test)).length))
    const opened = new Map<string, Opened>([['', first]])
    const shown: ShownTest[] = []
    for (const test of tests) {
      const key = test.vars.join('\n')
      const found = opened.get(key) ?? (await this.#open(flags, test.vars))
      opened.set(key, found)
      const result = await this.#runOne(found, test, flags)
      shown.push(result)
      if (flags.json) this.#printResult(result)
      else if (!flags.quiet || !hasPassed(result))
        for (const line of testLines(result, width, paint)) this.print(line)
    }
    const failed = shown.filter((test) => !hasPassed(test)).length
    const ms = performance.now() - startedMs
    const counts = { ok: failed === 0, passed: shown.length - failed, failed, ms }
    if (flags.json) this.printEvent({ event: 'test-finished', ...counts })
    else this.print(totalOf(shown, failed, ms, first.compiled))
    return shown
  }

  async #open(flags: TestFlags, vars: readonly string[]): Promise<Opened> {
    const project = await this.openProject({ ...flags, vars: [...vars, ...(flags.vars ?? [])] })
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const compiled = await compileOnce(project.files, { ...project.paths, save: false })
    return { project, compiled }
  }

  /** A test of a model that is not there is among them, to be told. */
  async #chosen(
    { project, compiled }: Opened,
    flags: TestFlags,
    argv: readonly unknown[],
  ): Promise<readonly ModelTest[]> {
    const { readModelTests } = await import('../project/model-tests.ts')
    const { knownModels, select } = await import('../compiler/select.ts')
    const tests = await readModelTests(project.paths.dir)
    const selection = selectionOf(argv, flags)
    if (selection.include.length + selection.exclude.length === 0) return tests
    const chosen = select(knownModels(compiled), selection, noState)
    const names = new Set(Array.from(chosen, foldCase))
    return tests.filter(({ model }) => names.has(foldCase(model)))
  }

  async #runOne(
    { project, compiled }: Opened,
    test: ModelTest,
    flags: TestFlags,
  ): Promise<ShownTest> {
    const startedMs = performance.now()
    const { dir } = project.paths
    const accept = flags.accept
      ? (path: string, text: string) => writeFile(join(dir, path), text)
      : null
    const outcome =
      test.problem === null
        ? await runOne({ project, compiled }, test, accept)
        : { problem: test.problem, difference: null }
    const model = [...compiled.models.values()].find(
      ({ name }) => foldCase(name) === foldCase(test.model),
    )
    const source = model?.source.path ?? null
    return { ...shownOf(test), ...outcome, source, ms: performance.now() - startedMs }
  }

  #printResult({ model, name: test, runs, ms, ...result }: ShownTest): void {
    const { problem, difference: found } = result
    const status = hasPassed(result) ? 'ok' : 'failed'
    const difference = found && differenceOf(found)
    this.printEvent({ event: 'test', model, test, status, runs, problem, difference, ms })
  }
}

async function runOne(
  { project, compiled }: Opened,
  test: ModelTest,
  accept: TestOptions['accept'],
): Promise<TestOutcome> {
  const { eventsDoor } = await import('../wiring/events-door.ts')
  const { runTest } = await import('../pipeline/model-test/run-test.ts')
  const { paths, settings } = project
  return await runTest({
    project: compiled,
    paths,
    memoryLimit: settings.memory_limit,
    test,
    openDoor: (stateDir) => eventsDoor(project, stateDir),
    accept,
  })
}

const shownOf = ({ model, name, about, runs }: ModelTest): ShownTest => ({
  model,
  name,
  about,
  runs: runs.length,
  ms: 0,
  source: null,
  problem: null,
  difference: null,
})

function differenceOf(difference: NonNullable<ShownTest['difference']>) {
  const { path, line, columns, missing, unexpected, changed, missingRows, unexpectedRows } =
    difference
  const counts = { missing_rows: missingRows, unexpected_rows: unexpectedRows }
  return { path, line, columns, missing, unexpected, changed, ...counts }
}

function totalOf(
  shown: readonly ShownTest[],
  failed: number,
  ms: number,
  { models }: CompiledProject,
): string {
  if (shown.length === 0)
    return 'no tests: tests/<schema>/<model>/<case>/ has given/ and expect.csv'
  const queries = [...models.values()].filter(({ kind }) => kind !== 'events' && kind !== 'seed')
  const tested = new Set(shown.map(({ model }) => foldCase(model)))
  const covered = queries.filter(({ name }) => tested.has(foldCase(name))).length
  const outcome = `${shown.length - failed} ok${failed === 0 ? '' : `, ${failed} failed`}`
  return `${outcome} in ${duration(ms)}; ${covered} of ${count(queries.length, 'model')} ${covered === 1 ? 'has' : 'have'} a test`
}

function noState(): never {
  throw new UsageError(
    'tests do not look at what was built, so they cannot select state:modified',
    {
      hint: 'name the models, or select them by tag',
    },
  )
}
