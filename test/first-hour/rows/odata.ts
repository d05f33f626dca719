import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'o05',
    mistake: 'a misspelt option',
    ask: { get: '/core_orders?$filtr=amount gt 1' },
    answer: '400 there is no query option "$filtr": did you mean "filter"?',
    grade: 'A',
  },
]
