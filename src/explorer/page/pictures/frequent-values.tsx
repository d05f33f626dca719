import './pictures.css'
import { groupDigits } from '../model/show.ts'
import type { Bar } from '../profile/read-picture.ts'

export interface FrequentValuesProps {
  readonly bars: readonly Bar[]
  readonly sentence: string
  /** Of which the bars are parts. */
  readonly rows: number
}

/** Values with their counts, the most frequent one above. */
export function FrequentValues({ bars, sentence, rows }: FrequentValuesProps) {
  const most = Math.max(1, ...bars.map((bar) => bar.rows))
  const share = (count: number) => ((count / Math.max(1, rows)) * 100).toFixed(1)
  return (
    <div class="frequent" role="img" aria-label={sentence}>
      {bars.map((bar) => (
        <div
          key={`${bar.isWord} ${bar.label}`}
          class="frequent-bar"
          title={`${bar.label}: ${bar.rows} rows, ${share(bar.rows)} %`}
        >
          <bdi class={bar.isWord ? 'frequent-label word' : 'frequent-label'}>{bar.label}</bdi>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none">
            <rect width={Math.max(0.8, (bar.rows / most) * 100)} height={10} />
          </svg>
          <span class="frequent-rows">{groupDigits(bar.rows)}</span>
        </div>
      ))}
    </div>
  )
}
