// The tests that are about a shortcut itself: all others pass without it. How paths below test/ begin, by its name.

const IDLE = ['commands/idle-run', 'commands/unchanged.']

export const ownTests: Readonly<Record<string, readonly string[]>> = {
  'compiler/cache': ['compiler/compile-once.', 'compiler/compile-edits.', ...IDLE],
  'pipeline/idle': IDLE,
  'pipeline/open-ahead': [],
  'store/files/idle': IDLE,
  'odata/http/answer-cache': ['odata/http/answer-cache.', 'odata/http/equal-requests.'],
  'odata/http/known-lookups': [],
  'odata/engine/rows': ['odata/engine/rows/'],
  'http/known-heads': ['http/known-heads.', 'odata/http/known-heads'],
  'http/fast': ['http/fast/', 'collect/front.', 'pages-of-architecture.'],
}
