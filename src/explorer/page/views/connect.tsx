import type { ViewProps } from '../page.ts'

export function ConnectView(_props: ViewProps<'connect'>) {
  return <p>Connect</p>
}
