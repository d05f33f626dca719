// Spellings of help and version that other tools have. oclif knows --help, and -h by package.json.

const VERSION_WORDS = ['--version', '-v', '-V']

/** The same command line as oclif reads it. */
export function inOwnWords(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv
  if (VERSION_WORDS.includes(first)) return ['version', ...rest]
  return first === 'help' ? [...rest, '--help'] : argv
}
