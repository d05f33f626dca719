import type { ViewProps } from '../page.ts'

export function HomeView(_props: ViewProps<'home'>) {
  return <p>Home</p>
}
