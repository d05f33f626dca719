// What oclif finds wrong with a command line, in the words of this tool: one line that names what was typed.

interface OclifProblem extends Error {
  /** Those that are missing, or those that are too many. */
  readonly args?: readonly (string | Argument)[]
}

interface Argument {
  readonly name: string
  readonly description?: string
}

/** What is said of a flag, by what oclif says of it. */
const sayings: readonly (readonly [RegExp, string])[] = [
  [/^Missing required flag (\S+)$/, 'the flag --$1 is missing'],
  [/^Flag (--\S+) expects a value$/, '$1 needs a value'],
  [/^Flag (--\S+) expects one of these values: (.*)$/, '$1 needs a value: $2'],
  [/^Flag (--\S+) can only be specified once$/, '$1 is given more than once'],
  [/^Parsing (--\S+) Expected an integer but received: (.*)$/, '$1 must be an integer, not "$2"'],
  [
    /^Parsing (--\S+) Expected an integer greater than or equal to (\S+) but received: (.*)$/,
    '$1 must be at least $2, not $3',
  ],
  [
    /^Parsing (--\S+) Expected an integer less than or equal to (\S+) but received: (.*)$/,
    '$1 must be at most $2, not $3',
  ],
  [/^Expected (--[^\s=]+)=(.*) to be one of: (.*)$/, '$1 must be one of $3, not "$2"'],
  [/^All of the following must be provided when using (--\S+): (.*)$/, '$1 requires $2'],
  [/^(--[^\s=]+)=.* cannot also be provided when using (--\S+)$/, '$2 cannot be combined with $1'],
]

/** `title` is the command as it is typed. */
export function usageProblem(title: string, error: OclifProblem): string {
  const { args = [] } = error
  const missing = args.filter((arg) => typeof arg !== 'string')
  const others = args.filter((arg) => typeof arg === 'string')
  if (missing.length > 0) return `${title} needs ${missing.map(nameOf).join(' and ')}`
  if (others.length > 0)
    return `${title} takes no more arguments ${others.map((word) => `"${word}"`).join(', ')}`
  const [text = ''] = error.message.split('\nSee more help with')
  const [head = '', ...rest] = text.split('\n').map((line) => line.trim())
  // oclif puts what is wrong with several flags under a headline, each on its own line.
  const problems = head.startsWith('The following error') ? rest : [[head, ...rest].join(' ')]
  return [...new Set(problems.map(reworded))].join('; ')
}

const nameOf = ({ name, description = '' }: Argument) =>
  `${name.toUpperCase()} (${description.charAt(0).toLowerCase()}${description.slice(1)})`

function reworded(problem: string): string {
  const saying = sayings.find(([pattern]) => pattern.test(problem))
  return saying === undefined ? problem : problem.replace(...saying)
}
