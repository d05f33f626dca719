import type { ComponentProps } from 'preact'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'name'> {
  /** What it does, where its sign says it to eyes alone. */
  readonly name?: string | undefined
}

export function Button({ name, ...props }: ButtonProps) {
  return <button type="button" class="button" aria-label={name} {...props} />
}
