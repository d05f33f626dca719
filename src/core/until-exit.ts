// What can be neither closed nor collected without harm is kept as it is until the process ends, which has to be soon.

const kept = new Set<object>()

export function keepUntilExit(thing: object): void {
  kept.add(thing)
}

/** Whether the process has to end as soon as it has said why, by process.exit(): an end by itself closes what is kept. */
export const hasToExit = (): boolean => kept.size > 0
