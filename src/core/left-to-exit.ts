// What can be neither closed nor collected without harm: it stays as it is until the process ends, which has to be soon.

const left = new Set<object>()

export function leaveToExit(thing: object): void {
  left.add(thing)
}

/** Whether the process has to end as soon as it has said why, by process.exit(): an end by itself closes what is left. */
export const isLeftToExit = (): boolean => left.size > 0
