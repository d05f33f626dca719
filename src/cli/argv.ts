// Spellings of help and version that other tools have. oclif knows --help, and -h by package.json.

const VERSION_WORDS = ['--version', '-v', '-V']

/** The same command line as oclif reads it. */
export function inOwnWords(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv
  if (VERSION_WORDS.includes(first)) return ['version', ...rest]
  // Other tools have it as a command; here it is one only with something to look up.
  const isHelpOfHelp = first === 'help' && rest.some((word) => word === '-h' || word === '--help')
  return isHelpOfHelp ? [...rest.filter((word) => !word.startsWith('-')), '--help'] : argv
}
