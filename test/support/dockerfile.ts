// The instructions of a Dockerfile.

interface Instruction {
  readonly name: string
  readonly text: string
}

export function instructionsOf(dockerfile: string): readonly Instruction[] {
  return dockerfile
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, name, text] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
      return name === undefined || text === undefined ? [] : [{ name, text }]
    })
}
