// A mistake that a newcomer makes, as data: what is written or typed, and what eider answers.

/** By path; null removes a file or a directory. */
export type Changes = Readonly<Record<string, string | Uint8Array | null>>

/** One row. The files are laid over those of the template "events", so most rows name one file. */
export interface Mistake {
  /** Stable name of the row. */
  readonly id: string
  /** What the person did. */
  readonly mistake: string
  readonly files?: Changes
  /** How eider is asked; `compile` when not given. */
  readonly ask?: Ask
  /**
   * The whole answer, blank lines, indentation and the width of columns aside. A compile answers with its diagnostics
   * without their excerpts; a command with what it prints on stderr, then on stdout, without the times of its lines; a
   * request with its status and the message of the error. What differs from run to run is `<time>`, `<id>`, `<user>`.
   */
  readonly answer: string
  /** For long answers: the answer need only contain these lines. */
  readonly among?: true
  /** Of a command. */
  readonly exitCode?: number
  readonly grade: Grade
}

/**
 * A: says where, what, and how to fix it, or simply works. B: right, but without the way out. There is no C: a row that
 * misleads, or says nothing about a mistake, is a bug.
 */
type Grade = 'A' | 'B'

/** Arguments of a command that succeeds, or files that are changed. */
export type Step = readonly string[] | Changes

export interface CommandAsk {
  /** Arguments of the built command line, in a fresh copy of the project; the steps of `after` come first. */
  readonly eider: readonly string[]
  readonly after?: readonly Step[]
  readonly env?: Readonly<Record<string, string>>
  /** Directories that the person who types the command cannot write. */
  readonly writeProtected?: readonly string[]
  /** Files and directories that this person cannot read. */
  readonly unreadable?: readonly string[]
}

interface RequestAsk {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Settings of the process that is asked, as variables of its environment. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ServiceAsk extends RequestAsk {
  /** A URL below the service root of the template's project, whose events are all in; or `//`: the root of the host. */
  readonly get: string
}

export interface DaemonAsk extends RequestAsk {
  /** A path of the daemon of the template's project. */
  readonly post: string
  readonly body?: string | Uint8Array
}

type Ask = 'compile' | CommandAsk | ServiceAsk | DaemonAsk
