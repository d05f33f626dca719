// What a unit of another supervisor has to know to start `eider up` for a project, as this user with this program.

export interface Deployment {
  readonly project: string
  readonly target: string | null
  readonly version: string
  /** Of the project. */
  readonly dir: string
  /** Program and arguments: node, this program, `up` and its flags. */
  readonly command: readonly string[]
  readonly user: string
  readonly uid: number
  readonly gid: number
  /** Absolute; the project's directory first. */
  readonly writable: readonly string[]
  /** Of the host; null: `up` starts no such service. */
  readonly collectPort: number | null
  readonly odataPort: number | null
  /** Whether ports are open without a token. */
  readonly isAnonymous: boolean
}

/** `shop`, or `shop-prod`. */
export const unitName = ({ project, target }: Deployment): string =>
  (target === null ? project : `${project}-${target}`).replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
