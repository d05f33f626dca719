// What each shell loads once. It asks eider for every word, so it knows nothing of commands itself.

import type { Completions } from './complete.ts'

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

// In all of them a first line `:file` or `:directory` leaves the word to the shell.
const bash = `# eider completion for bash: eval "$(eider completion bash)"
_eider() {
  local IFS=$'\\n'
  local lines=($(eider completion bash -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  case "\${lines[0]}" in
    :file) compopt -o default; COMPREPLY=() ;;
    :directory) compopt -o filenames; COMPREPLY=($(compgen -d -- "$2")) ;;
    *) COMPREPLY=("\${lines[@]}") ;;
  esac
}
complete -F _eider eider
`

const zsh = `#compdef eider
# eider completion for zsh: eval "$(eider completion zsh)", after compinit
_eider() {
  local -a lines
  lines=("\${(@f)$(eider completion zsh -- "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  case "\${lines[1]}" in
    :file) _files ;;
    :directory) _files -/ ;;
    ?*) _describe 'eider' lines ;;
  esac
}
compdef _eider eider
`

const fish = `# eider completion for fish: eider completion fish | source
function __eider_complete
    set -l lines (eider completion fish -- (commandline -opc) (commandline -ct) 2>/dev/null)
    switch "$lines[1]"
        case ':file'
            __fish_complete_path (commandline -ct)
        case ':directory'
            __fish_complete_directories (commandline -ct) ''
        case '*'
            printf '%s\\n' $lines
    end
end
complete -c eider -f -a '(__eider_complete)'
`

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }

/** As the script of the shell reads it, one candidate a line. `typed`: the word so far. */
export function showProposal(
  { candidates, paths }: Completions,
  shell: Shell,
  typed: string,
): string {
  if (paths !== null) return `:${paths}`
  const lines = candidates
    .filter(({ value }) => !/[\n\r]/.test(value))
    .map(({ value, description }) => {
      const text = description?.replaceAll(/\s+/g, ' ')
      if (shell === 'bash') return value.slice(endOfBreaks(typed)).replaceAll(SPECIAL, '\\$&')
      if (text === undefined) return shell === 'zsh' ? escapeColons(value) : value
      return shell === 'zsh' ? `${escapeColons(value)}:${text}` : `${value}\t${text}`
    })
  return lines.join('\n')
}

const SPECIAL = /[^\p{L}\p{N}_.,:=@%+*/-]/gu

/** Readline takes what follows a colon or an equals sign for a word. */
const endOfBreaks = (typed: string) => Math.max(typed.lastIndexOf(':'), typed.lastIndexOf('=')) + 1

const escapeColons = (value: string) => value.replaceAll('\\', '\\\\').replaceAll(':', '\\:')

/** The last word is the one that is being typed; empty after a space. Quotes may still be open. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!
    if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (char === quote) quote = null
    else if (quote === null && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (char === '\\' && quote !== "'" && i + 1 < line.length)
      word = (word ?? '') + line[++i]!
    else word = (word ?? '') + char
  }
  return [...words, word ?? '']
}
