// Lines of a log that are written together at the end of a turn of the event loop: for an answer from memory the system
// call that writes its line costs more than the answer.

interface GatheredLines {
  /** `isUrgent`: it goes out at once, with those before it. */
  write(line: string, isUrgent: boolean): void
}

/** What was gathered goes out when the process ends too, unless that is killed. */
export function gatherLines(write: (text: string) => void): GatheredLines {
  let text = ''
  const writeOut = () => {
    if (text === '') return
    const lines = text
    text = ''
    write(lines)
  }
  process.on('exit', writeOut)
  return {
    write(line, isUrgent) {
      if (text === '' && !isUrgent) setImmediate(writeOut)
      text += `${line}\n`
      if (isUrgent) writeOut()
    },
  }
}
