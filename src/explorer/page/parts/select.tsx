/** A value, a value with what is shown for it, or some with what they have in common. */
export type Option =
  | string
  | readonly [value: string, text: string]
  | {
      readonly group: string
      readonly values: readonly (string | readonly [value: string, text: string])[]
    }

export interface SelectProps {
  /** For who does not see where it stands; not needed within a label. */
  readonly name?: string
  readonly value: string
  readonly options: readonly Option[]
  readonly onChange: (value: string) => void
  readonly isFirst?: boolean
}

export function Select({ name, value, options, onChange, isFirst }: SelectProps) {
  return (
    <select
      class="select"
      aria-label={name}
      data-first={isFirst === true ? true : undefined}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(elementOf)}
    </select>
  )
}

function elementOf(option: Option) {
  if (typeof option === 'string') return <option key={option}>{option}</option>
  if ('group' in option)
    return (
      <optgroup key={option.group} label={option.group}>
        {option.values.map(elementOf)}
      </optgroup>
    )
  const [value, text] = option
  return (
    <option key={value} value={value}>
      {text}
    </option>
  )
}
