// What may come next on a command line.
//
// @oclif/plugin-autocomplete does not replace it: it proposes commands and flags, but neither models nor targets, has no
// fish, keeps a copy of the commands under HOME that is made again after each upgrade, and from version 4 on needs Node 22.

import { argumentValues, flagValues, MANY, manyValues, type ValueKind } from './value-kinds.ts'

export interface Candidate {
  readonly value: string
  readonly description?: string | undefined
}

interface Flag {
  readonly name: string
  readonly char?: string | undefined
  readonly summary?: string | undefined
  readonly type: 'boolean' | 'option'
  readonly options?: readonly string[] | undefined
  readonly multiple?: boolean | undefined
  readonly hidden?: boolean | undefined
}

export interface CommandShape {
  /** Words with colons between them. */
  readonly id: string
  readonly summary?: string | undefined
  readonly strict?: boolean | undefined
  readonly flags: Readonly<Record<string, Flag>>
  readonly args: Readonly<Record<string, { readonly options?: readonly string[] | undefined }>>
}

interface CommandLine {
  readonly commands: readonly CommandShape[]
  /** Words that begin several commands, with what they are about. */
  readonly topics: ReadonlyMap<string, string>
  /** Without the name of the program; the last word is being typed. */
  readonly words: readonly string[]
  readonly valuesOf: (kind: ValueKind) => Promise<readonly Candidate[]>
}

/** What is proposed for the word that is being typed: values, or the files or directories that the shell knows. */
export interface Completions {
  readonly candidates: readonly Candidate[]
  readonly paths: 'file' | 'directory' | null
}

const NOTHING: Completions = { candidates: [], paths: null }

export async function complete(line: CommandLine): Promise<Completions> {
  const typed = line.words.at(-1) ?? ''
  const before = line.words.slice(0, -1)
  const command = commandOf(line.commands, before)
  if (command === null) return starting(typed, nextWords(line, before))
  const given = readGiven(command, before.slice(command.id.split(':').length))
  if (given.pending !== null)
    return await valueOf(line, kindOf(command, given.pending), given.pending.options, typed)
  if (given.isEnded) return await argument(line, command, given.arguments, typed)
  const [, name, value] = /^--([^=]+)=(.*)$/s.exec(typed) ?? []
  if (name !== undefined) {
    const flag = command.flags[name]
    if (flag?.type !== 'option') return NOTHING
    return await valueOf(line, kindOf(command, flag), flag.options, value!, `--${name}=`)
  }
  if (typed.startsWith('-')) return starting(typed, flagsOf(command, given.flags))
  return await argument(line, command, given.arguments, typed)
}

/** The longest name of a command that the words begin with; null where none is whole yet. */
function commandOf(
  commands: readonly CommandShape[],
  words: readonly string[],
): CommandShape | null {
  const begins = ({ id }: CommandShape) => id.split(':').every((word, i) => words[i] === word)
  const [longest = null] = commands
    .filter(begins)
    .toSorted((a, b) => b.id.split(':').length - a.id.split(':').length)
  return longest
}

function nextWords(
  { commands, topics }: CommandLine,
  before: readonly string[],
): readonly Candidate[] {
  const next = new Map<string, string | undefined>()
  for (const { id, summary } of commands) {
    const words = id.split(':')
    const word = words[before.length]
    if (word === undefined || before.some((one, i) => words[i] !== one)) continue
    const isWhole = words.length === before.length + 1
    next.set(word, isWhole ? summary : (next.get(word) ?? topics.get(word)))
  }
  return Array.from(next, ([value, description]) => ({ value, description }))
}

/** `pending`: the flag whose value comes next. `isEnded`: whether `--` has come, after which all words are arguments. */
function readGiven(command: CommandShape, words: readonly string[]) {
  const flags = new Set<string>()
  let count = 0
  let pending: Flag | null = null
  for (const [i, word] of words.entries()) {
    if (pending !== null) pending = null
    else if (word === '--')
      return { pending, flags, arguments: count + words.length - i - 1, isEnded: true }
    else if (word.startsWith('-') && word !== '-') {
      const flag = flagNamed(command, word)
      if (flag === undefined) continue
      flags.add(flag.name)
      if (flag.type === 'option' && !word.includes('=')) pending = flag
    } else count += 1
  }
  return { pending, flags, arguments: count, isEnded: false }
}

function flagNamed({ flags }: CommandShape, word: string): Flag | undefined {
  const [, long] = /^--([^=]+)/.exec(word) ?? []
  if (long !== undefined) return flags[long]
  return Object.values(flags).find(({ char }) => char !== undefined && word === `-${char}`)
}

function flagsOf({ flags }: CommandShape, given: ReadonlySet<string>): readonly Candidate[] {
  const open = Object.values(flags).filter(
    ({ name, multiple, hidden }) => hidden !== true && (multiple === true || !given.has(name)),
  )
  const help = { value: '--help', description: 'Show the flags of the command' }
  return [...open.map(({ name, summary }) => ({ value: `--${name}`, description: summary })), help]
}

const kindOf = ({ id }: CommandShape, { name }: Flag): ValueKind =>
  flagValues[`${id} --${name}`] ?? flagValues[name] ?? 'text'

async function argument(
  line: CommandLine,
  { id, strict, args }: CommandShape,
  place: number,
  typed: string,
): Promise<Completions> {
  const [name, shape] = Object.entries(args)[place] ?? []
  if (name !== undefined) {
    return await valueOf(line, argumentValues[name] ?? 'text', shape?.options, typed)
  }
  if (strict !== false) return NOTHING
  return await valueOf(line, manyValues[id] ?? MANY, undefined, typed)
}

/** `prefix` comes before the value in the same word. */
async function valueOf(
  { valuesOf }: CommandLine,
  kind: ValueKind,
  options: readonly string[] | undefined,
  typed: string,
  prefix = '',
): Promise<Completions> {
  if (options !== undefined)
    return starting(
      prefix + typed,
      options.map((option) => ({ value: prefix + option })),
    )
  if (kind === 'text') return NOTHING
  if (kind === 'file' || kind === 'directory') return { candidates: [], paths: kind }
  const [, before = ''] = (kind === 'selector' ? /^((?:.*,)?\s*\+?)/s : /^()/).exec(typed) ?? []
  const values = await valuesOf(kind)
  return starting(
    prefix + typed,
    values.map(({ value, description }) => ({ value: prefix + before + value, description })),
  )
}

/** In any letter case, since names of models are the same in any. */
function starting(typed: string, candidates: readonly Candidate[]): Completions {
  const folded = typed.toLowerCase()
  const fit = candidates.filter(({ value }) => value.toLowerCase().startsWith(folded))
  return { candidates: fit, paths: null }
}
