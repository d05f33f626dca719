import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'h-run',
    mistake: 'a misspelt command',
    ask: { eider: ['rnu'] },
    answer: `
      error: there is no command "rnu"
      hint: did you mean "eider run"?`,
    exitCode: 2,
    grade: 'A',
  },
]
