import { useEffect, useState } from 'preact/hooks'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for who does not see it: "Copy the request". */
  readonly name?: string
  readonly label?: string
}

/** Says that it has copied, in words that a screen reader hears too. */
export function CopyButton({ text, name, label = 'Copy' }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return undefined
    const timer = setTimeout(() => setSaid(null), 2_000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => void copyText(text).then((isDone) => setSaid(isDone ? 'Copied' : 'Select it'))
  return (
    <button type="button" class="button copy" aria-label={name} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}

/** A page that came over plain HTTP from another machine has no clipboard of the newer kind. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.setAttribute('aria-hidden', 'true')
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}
