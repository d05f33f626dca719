// A share of the rows that a run reads from elsewhere, for `eider run --sample`.

export interface Sample {
  /** The text as it is written, such as `10%`. */
  readonly text: string
  /** In hundredths of a percent. */
  readonly share: number
  /** Rows of all tables that have this column are chosen by its value; null: each row by all of its values. */
  readonly by: string | null
}

/** null where the text is not a share above 0 % and up to 100 %. */
export function parseSample(text: string, by: string | null): Sample | null {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,2})?)%?$/.exec(text.trim()) ?? []
  const share = percent === undefined ? 0 : Math.round(Number(percent) * 100)
  if (share < 1 || share > 10_000) return null
  return { text: `${Number(percent)}%`, share, by }
}

/** Part of the fingerprint of what is built of it. */
export const sampleKey = ({ share, by }: Sample): string => `${share} ${by ?? ''}`
