// What the values of flags and arguments are, for shells to propose. A test keeps the tables complete.

export type ValueKind =
  | 'selector'
  | 'model'
  | 'entitySet'
  | 'target'
  | 'variable'
  | 'extension'
  | 'topic'
  | 'directory'
  | 'file'
  /** Anything: nothing can be proposed. */
  | 'text'

/** Flags that list no options. Where a name means something else in one command, the command stands before it. */
export const flagValues: Readonly<Record<string, ValueKind>> = {
  accept: 'model',
  'admin-port': 'text',
  'move --from': 'target',
  'page-size': 'text',
  'sample-by': 'text',
  against: 'file',
  at: 'text',
  end: 'text',
  every: 'text',
  exclude: 'selector',
  file: 'file',
  from: 'directory',
  host: 'text',
  junit: 'file',
  limit: 'text',
  manifest: 'file',
  mask: 'text',
  'contract-version': 'text',
  out: 'file',
  output: 'file',
  port: 'text',
  project: 'directory',
  sample: 'text',
  select: 'selector',
  start: 'text',
  by: 'text',
  target: 'target',
  threads: 'text',
  to: 'target',
  token: 'text',
  url: 'text',
  vars: 'variable',
  wait: 'text',
  where: 'text',
  workers: 'text',
}

export const argumentValues: Readonly<Record<string, ValueKind>> = {
  condition: 'text',
  directory: 'directory',
  file: 'file',
  model: 'model',
  name: 'model',
  new: 'model',
  old: 'model',
  query: 'text',
  resource: 'entitySet',
  shell: 'text',
  sql: 'text',
}

/** Commands that take any number of arguments. */
export const manyValues: Readonly<Record<string, ValueKind>> = {
  'extension:install': 'extension',
  fmt: 'file',
  help: 'topic',
}

/** What the other commands take that take any number of arguments. */
export const MANY: ValueKind = 'selector'
