// A mistake that a newcomer makes, as data: what is written or typed, and what eider answers.

/** One row. The files are laid over those of the template "events", so most rows name one file. */
export interface Mistake {
  /** Stable name of the row. */
  readonly id: string
  /** What the person did. */
  readonly mistake: string
  /** By path; null removes a file of the template. */
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>
  /** How eider is asked; `compile` when not given. */
  readonly ask?: Ask
  /**
   * The whole answer, blank lines and indentation aside. A compile answers with its diagnostics without their excerpts;
   * a command with what it prints on stderr, then on stdout; a request with its status and the message of the error.
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
export type Grade = 'A' | 'B'

export type Ask =
  | 'compile'
  /** Arguments of the built command line, in a fresh copy of the project; those of `after` come first and succeed. */
  | { readonly eider: readonly string[]; readonly after?: readonly (readonly string[])[] }
  /** A URL below the service root of the template's project, whose events are all in. */
  | { readonly get: string; readonly headers?: Readonly<Record<string, string>> }
  /** A path of the daemon of the template's project. */
  | {
      readonly post: string
      readonly body: string
      readonly headers?: Readonly<Record<string, string>>
    }
