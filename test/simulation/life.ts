// One life of a project under a seed: senders, one or two daemons, runs, a service and its readers, and what befalls them.
// It ends with peace, in which all that is owed has to be delivered.

import {
  type Compiled,
  follower,
  isOfSystem,
  isRefusal,
  secondCollector,
  startDaemon,
  startPull,
  startRun,
  startService,
} from './machine.ts'
import type { RunSummary } from '../../src/core/report/progress.ts'
import { type Call, Known } from './known.ts'
import { ForgottenKeys } from './forgotten-keys.ts'
import { Outside } from './outside.ts'
import { aroundEngine, closeEnginesOf } from './patched-engine.ts'
import { closeFilesOf, useDisk } from './patched-files.ts'
import { Network, useNetwork } from './patched-network.ts'
import { type Lived, type Plan, planOf } from './plan.ts'
import { numberOfSegment, SEGMENT, SimulatedDisk } from './simulated-disk.ts'
import { SimulatedLake } from './simulated-lake.ts'
import { wrongInWarehouse } from './stored-rows.ts'
import { type SimulatedProcess, World } from './world.ts'

interface Running {
  readonly process: SimulatedProcess
  readonly done: Promise<unknown>
  listens?: boolean
}

const STEPS_TO_PEACE = 4_000
/** Keys are remembered for a day. A daemon that starts while the clock is ahead by more, or was behind, may forget them. */
const HALF_A_DAY_MS = 43_200_000

export class Life {
  readonly world: World
  readonly plan: Plan
  readonly known = new Known()
  readonly #forgotten = new ForgottenKeys(this.known)
  readonly #disk: SimulatedDisk
  readonly #network = new Network()
  readonly #collectors: readonly Compiled[]
  readonly #daemons: (Running | null)[]
  readonly #outside: Outside
  /** The first is on the machine of the runs, the second where these are pulled. */
  readonly #serving: readonly Compiled[]
  readonly #services: (Running | null)[]
  readonly #lake: SimulatedLake
  #pull: Running | null = null
  #run: { readonly running: Running; readonly due: ReadonlySet<Call> } | null = null
  #wrong: string | null = null
  #aheadMs = 0
  /** Segments of which a bit has changed. */
  readonly #flipped = new Set<string>()
  /** Operations of engines until the power goes in the middle of one; null: it does not. */
  #cutIn: number | null = null
  readonly #counts = { cuts: 0, runs: 0, done: 0 }

  constructor(seed: number, compiled: Compiled, plan?: Partial<Plan>) {
    this.world = new World(seed, compiled.project.paths.dir)
    this.plan = { ...planOf(this.world), ...plan }
    this.world.note(JSON.stringify(this.plan))
    this.#disk = new SimulatedDisk(this.world, compiled.project.paths.state)
    useDisk(this.#disk)
    useNetwork(this.#network)
    const all = [compiled, secondCollector(compiled)]
    this.#collectors = all.slice(0, this.plan.collectors)
    this.#daemons = this.#collectors.map(() => null)
    this.#serving = [compiled, ...(this.plan.pulls ? [follower(compiled)] : [])]
    this.#services = this.#serving.map(() => null)
    this.#lake = new SimulatedLake(this.world, {
      dir: `${compiled.project.paths.state}.lake`,
      breaks: this.plan.network,
    })
    this.#outside = new Outside(this.world, {
      known: this.known,
      projects: this.#collectors.map(({ project }) => project),
      services: this.#serving.map(({ project }) => project.settings['odata.port']),
      find: (wrong) => this.#find(wrong),
    })
    aroundEngine((process, work) => this.#aroundEngine(process, work))
  }

  async live(): Promise<Omit<Lived, 'seed'>> {
    const { world, plan } = this
    while (world.steps < plan.steps && this.#wrong === null) {
      if (world.chance(plan.busy)) await this.#act()
      await this.#calm()
      if (!(await world.step())) await this.#act()
    }
    if (this.#wrong === null) await this.#peace()
    await this.#calm()
    await this.#killAll(() => true)
    return {
      wrong: this.#wrong,
      digest: world.digest(),
      lines: world.lines,
      accepted: this.known.calls.filter(({ state }) => state === 'accepted').length,
      ...this.#counts,
      answers: this.#outside.answers,
    }
  }

  /** Something from outside, of what is possible now. */
  async #act(): Promise<void> {
    const { world, plan } = this
    await this.#calm()
    const acts: (readonly [weight: number, act: () => unknown])[] = [
      [this.#outside.mayCall ? 6 : 0, () => this.#outside.send()],
      [this.#isFarAhead ? 0 : 4, () => this.#startAll()],
      [2, () => this.#startRun()],
      [this.#services.includes(null) ? 0 : 2, () => this.#outside.read()],
      [plan.pulls ? 2 : 0, () => this.#startPull()],
      [plan.kills ? 1 : 0, () => this.#killOne()],
      [plan.cuts && !this.#isFarAhead ? 0.6 : 0, () => this.#powerCut()],
      [plan.cuts && !this.#isFarAhead ? 1 : 0, () => (this.#cutIn = world.upTo(40))],
      [plan.network ? 2 : 0, () => this.#network.breakOne(world)],
      [plan.trouble ? 1 : 0, () => this.#changeTrouble()],
      [plan.clock ? 1 : 0, () => this.#setClock()],
      [plan.flips ? 1 : 0, () => this.#flip()],
      [plan.moves ? 0.5 : 0, () => this.#moveState()],
    ]
    const all = acts.reduce((sum, [weight]) => sum + weight, 0)
    let left = world.random() * all
    for (const [weight, act] of acts) {
      left -= weight
      if (left < 0) return void (await act())
    }
  }

  get #isFarAhead(): boolean {
    return this.#aheadMs > 2 * HALF_A_DAY_MS
  }

  #find(wrong: string | null): void {
    this.#wrong ??= wrong
    if (wrong !== null) this.world.note(`wrong: ${wrong}`)
  }

  #startAll(): void {
    for (const [i, compiled] of this.#collectors.entries()) {
      if (this.#daemons[i] !== null) continue
      const running = startDaemon(this.world, compiled, `daemon ${i}`, this.#forgotten.listen(i))
      this.#daemons[i] = running
      void running.done.then((end) => this.#ended(running, end, () => (this.#daemons[i] = null)))
    }
    for (const [i, compiled] of this.#serving.entries()) {
      if (this.#services[i] !== null) continue
      const running = startService(this.world, compiled, `service ${i}`)
      this.#services[i] = running
      void running.done.then((end) => this.#ended(running, end, () => (this.#services[i] = null)))
    }
  }

  #startPull(): void {
    if (this.#pull !== null) return
    const { world } = this
    const running = startPull(world, this.#serving[1]!, this.#lake, 1 + world.upTo(3))
    this.#pull = running
    void running.done.then((end) => {
      if (running !== this.#pull) return
      if (end instanceof Error) return this.#ended(running, end, () => (this.#pull = null))
      this.#afterwards(this.#killAll((one) => one === running.process))
    })
  }

  /** One that could not start is gone, and starts again later. */
  #ended(running: Running, end: unknown, forget: () => void): void {
    if (!(end instanceof Error)) return void (running.listens = true)
    forget()
    const { process } = running
    this.world.kill(process)
    this.world.note(`${process.name} ended: ${end.message}`)
    if (!isRefusal(end) && !this.#isOfDisk(end)) this.#find(`a bug: ${end.stack}`)
  }

  /** What the disk refuses, or a state that is moved away just then, may end a process as it is. */
  #isOfDisk = (error: Error) => (this.plan.trouble || this.plan.moves) && isOfSystem(error)

  #startRun(compiled = this.world.oneOf(this.#collectors)): void {
    if (this.#run !== null) return
    const collector = this.#collectors.indexOf(compiled)
    const due = new Set(
      this.known.calls
        .slice(this.known.firstKept)
        .filter((call) => call.state === 'accepted' && call.collector === collector),
    )
    const running = startRun(this.world, compiled, this.#forgotten.listen(collector))
    const run = { running, due }
    this.#run = run
    void running.done.then((end) => (run === this.#run ? this.#runEnded(end, due) : undefined))
  }

  #ending: Promise<void> = Promise.resolve()

  #runEnded(end: RunSummary | Error, due: ReadonlySet<Call>): void {
    const { process } = this.#run!.running
    this.#counts.runs++
    if (end instanceof Error) {
      this.world.note(`run ended: ${end.message}`)
      if (!isRefusal(end) && !this.#isOfDisk(end)) this.#find(`a bug: ${end.stack}`)
      else if (!this.plan.trouble && !this.#mayBeRefused(end))
        this.#find(`a run ended: ${end.message}`)
    }
    const failed =
      end instanceof Error ? [] : end.models.filter(({ status }) => status === 'failed')
    for (const { model, because } of failed as { model: string; because?: unknown }[])
      this.world.note(`run failed ${model}: ${JSON.stringify(because)}`)
    const isDone = !(end instanceof Error) && failed.length === 0
    const isCalm = !this.plan.trouble && !this.plan.network && !this.plan.kills
    if (!isDone && !(end instanceof Error) && isCalm)
      this.#find(`a run failed: ${JSON.stringify(failed)}`)
    this.world.note(`run done ${isDone}`)
    if (isDone) this.#counts.done++
    this.#afterwards(this.#afterRun(process, isDone ? due : null))
  }

  /** Before anything else happens. */
  #afterwards(work: Promise<void>): void {
    this.#ending = Promise.all([this.#ending, work]).then(() => {})
  }

  /** All code waits for what is held, and what follows the end of a run or a pull is done: the power may not go in its middle. */
  async #calm(): Promise<void> {
    await this.world.settle()
    await this.#ending
  }

  /** The daemon that it asked was killed, or its connection cut. */
  #mayBeRefused = (error: Error) =>
    (this.plan.kills || this.plan.network || this.plan.moves) && !/damaged/.test(error.message)

  async #afterRun(process: SimulatedProcess, due: ReadonlySet<Call> | null): Promise<void> {
    await this.#killAll((one) => one === process)
    this.#run = null
    if (due !== null) await this.#look(due)
  }

  /** Into the warehouse, while nobody has it open. */
  async #look(due: ReadonlySet<Call>): Promise<void> {
    const projects = this.#collectors.map(({ project }) => project)
    const mayReturn = this.plan.trouble
    this.#find(await wrongInWarehouse(projects, this.known, { due, mayReturn }))
    if (this.plan.pulls) await this.#lake.publish(projects[0]!.paths.snapshots)
  }

  #isHere = (process: SimulatedProcess) => process !== this.#outside.process

  async #killOne(): Promise<void> {
    const { world } = this
    const choices = world.processes.filter(this.#isHere)
    if (choices.length === 0) return
    const victim = world.oneOf(choices)
    if (victim.name.startsWith('daemon') && this.#isFarAhead) return
    await this.#killAll((process) => process === victim)
  }

  /** What their engines have in memory is gone; their files are as they are now. */
  async #killAll(isVictim: (process: SimulatedProcess) => boolean): Promise<void> {
    const files = this.#disk.engineFiles()
    await this.#end(isVictim)
    this.#disk.putBack(files)
  }

  async #end(isGone: (process: SimulatedProcess) => boolean): Promise<void> {
    for (const process of this.world.processes.filter(isGone)) this.world.kill(process)
    await closeEnginesOf(isGone)
    closeFilesOf(isGone)
    this.#forget(isGone)
  }

  #forget(isGone: (process: SimulatedProcess) => boolean): void {
    for (const [i, daemon] of this.#daemons.entries())
      if (daemon !== null && isGone(daemon.process)) this.#daemons[i] = null
    for (const [i, service] of this.#services.entries())
      if (service !== null && isGone(service.process)) this.#services[i] = null
    if (this.#pull !== null && isGone(this.#pull.process)) this.#pull = null
    if (this.#run !== null && isGone(this.#run.running.process)) this.#run = null
  }

  async #powerCut(files = this.#disk.engineFiles()): Promise<void> {
    this.#cutIn = null
    this.#counts.cuts++
    this.world.note('the power goes')
    await this.#end(this.#isHere)
    this.#disk.cut(files)
  }

  async #aroundEngine(process: SimulatedProcess, work: () => Promise<unknown>): Promise<unknown> {
    const isCut = this.#cutIn !== null && CUT_WITHIN.includes(process.name) && !this.#isFarAhead
    if (!isCut || this.#cutIn!-- > 0) return await work()
    const before = this.#disk.engineFiles()
    const result = await work()
    const after = this.#disk.engineFiles()
    // Most often in the middle of one that has written to a log.
    const isQuiet = [...after].every(
      ([path, bytes]) => !path.endsWith('.wal') || bytes.length <= (before.get(path)?.length ?? 0),
    )
    if (isQuiet && this.world.chance(0.8)) this.#cutIn = 0
    else await this.#powerCut(this.#disk.torn(before, after))
    return result
  }

  #changeTrouble(): void {
    const { world } = this
    const code = world.oneOf(['ENOSPC', 'EIO'] as const)
    this.#disk.trouble =
      this.#disk.trouble === null ? { code, share: world.oneOf([0.02, 0.2, 1]) } : null
    world.note(`trouble ${JSON.stringify(this.#disk.trouble)}`)
  }

  /** Ahead or back by far, and right again. */
  #setClock(): void {
    const { world } = this
    const canBeFar = this.#daemons.every((daemon) => daemon?.listens === true)
    const far = canBeFar ? Array.from({ length: 4 }, () => 4 * HALF_A_DAY_MS) : []
    const choices = [-HALF_A_DAY_MS, -300_000, 300_000, ...far]
    const byMs = this.#aheadMs === 0 ? world.oneOf(choices) : -this.#aheadMs
    this.#aheadMs += byMs
    world.setClock(byMs)
  }

  /** One bit of a segment: of several in its last group no program can say that this was no power cut. */
  #flip(): void {
    const { world } = this
    const path = world.oneOf(
      this.#disk.names.filter(
        (name) => SEGMENT.test(name) && !this.#flipped.has(numberOfSegment(name)),
      ),
    )
    const bytes = path === undefined ? '' : this.#disk.find(path)!.visible.toString('latin1')
    if (path === undefined || bytes === '') return
    this.#flipped.add(numberOfSegment(path))
    this.#outside.isDamaged = true
    const bit = world.upTo(bytes.length * 8 - 1)
    this.#forgotten.flipped(path, bytes, bit >> 3)
    this.#disk.flip(path, bit)
  }

  /** Somebody moves the state away under a daemon that lives on. */
  async #moveState(): Promise<void> {
    const daemons = this.#daemons.map((daemon) => daemon?.process)
    await this.#killAll((process) => this.#isHere(process) && !daemons.includes(process))
    this.known.throwAway()
    this.#disk.moveAway()
    this.#lake.clear()
  }

  /** Nothing bad happens any more, and everybody gets time: senders, one run of each collector, the service. */
  async #peace(): Promise<void> {
    this.world.note('peace')
    this.#cutIn = null
    this.#disk.trouble = null
    if (this.#aheadMs !== 0) this.#setClock()
    // Who sees that its state was moved away says that it has to be started again.
    if (this.plan.moves) await this.#killAll(this.#isHere)
    await this.#until(() => this.#run === null && this.#outside.isDone)
    for (const compiled of this.#collectors) {
      const { done } = this.#counts
      await this.#until(() => {
        if (this.#run === null && this.#counts.done === done) this.#startRun(compiled)
        return this.#run === null
      })
    }
    const all = this.known.calls.slice(this.known.firstKept)
    const owed = all.reduce((sum, { size, state }) => sum + (state === 'accepted' ? size : 0), 0)
    if (this.#flipped.size > 0 || owed === 0) return
    for (const service of this.#serving.keys())
      await this.#until(() => this.#hasReadAll(service, owed))
  }

  #hasReadAll(service: number, owed: number): boolean {
    if (this.known.latest(service) >= owed) return true
    if (this.#serving.length > 1) this.#startPull()
    if (this.#outside.hasRead) this.#outside.read(service)
    return false
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (let steps = 0; this.#wrong === null; steps++) {
      if (steps % 20 === 0) this.#startAll()
      if (steps % 20 === 0 && isSo()) return
      await this.#calm()
      await this.world.step()
      if (steps > STEPS_TO_PEACE) return this.#find('there is no peace')
    }
  }
}

/** Those that write databases. */
const CUT_WITHIN = ['run', 'pull']
