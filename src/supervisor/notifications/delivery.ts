// What became of a notification, and who sends one.

export interface Delivery {
  readonly ok: boolean
  readonly tries: number
  /** A status of HTTP, an exit code, or why there is none. It has no part of a URL, which may be a secret. */
  readonly answer: string
}

/** `body`: JSON. Gives up when the signal says so. */
export type Deliver = (body: string, signal: AbortSignal) => Promise<Delivery>

/** `recipient`: what eider.yml says, with the values of the environment. */
export type Way = (
  recipient: string,
  body: string,
  signal: AbortSignal,
  surroundings: Surroundings,
) => Promise<Delivery>

export interface Surroundings {
  readonly cwd: string
  readonly onLine: (line: string) => void
}
