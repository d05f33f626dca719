// What `eider run --from` and `--sample` name, checked before anything is opened.

import { UsageError } from '../core/failures.ts'
import { parseSample, type Sample } from '../pipeline/borrow/sample.ts'
import type { Lender } from '../pipeline/borrow/borrow.ts'
import type { Project } from '../project/project.ts'
import { traitsOf } from '../store/traits-of.ts'

interface BorrowFlags {
  readonly from?: string | undefined
  readonly sample?: string | undefined
  readonly 'sample-by'?: string | undefined
}

/** The name of the state of a project without a target. */
const DEFAULT = 'default'

/** `open` reads the project with the settings of another target; null: without one. Throws UsageError. */
export async function borrowingOf(
  flags: BorrowFlags,
  project: Project,
  isSelected: boolean,
  open: (target: string | null) => Promise<Project>,
): Promise<{ readonly lender?: Lender; readonly sample?: Sample }> {
  const sample = sampleOf(flags, project)
  const { from } = flags
  if (from === undefined) return sample === null ? {} : { sample }
  const target = from === DEFAULT && !project.targets.includes(DEFAULT) ? null : from
  if (target === project.target)
    throw new UsageError(`--from ${from} is the target of the run itself`, {
      hint: 'give the run its own target: --target dev',
    })
  if (!traitsOf(project.paths).borrows)
    throw new UsageError('a target that is a lake cannot read from another target', {
      hint: 'choose a --target of files; --from may name a lake',
    })
  if (!isSelected)
    throw new UsageError('--from reads models that are not selected, and all are', {
      hint: 'select those to build, such as state:modified+ --against base.json',
    })
  const { paths } = await open(target)
  const { openStore } = await import('../store/open.ts')
  const { published } = openStore(paths)
  const pull = traitsOf(paths).isPulled ? `eider pull --target ${from}` : null
  const lender = { name: from, published, pull }
  const { currentOf } = await import('../pipeline/borrow/borrow.ts')
  await currentOf(lender)
  return sample === null ? { lender } : { lender, sample }
}

/** A sample replaces the rows of a target, so eider.yml has to allow it. */
function sampleOf(flags: BorrowFlags, { target, settings }: Project): Sample | null {
  const { sample: text, 'sample-by': by = null } = flags
  if (text === undefined) return null
  const sample = parseSample(text, by)
  if (sample === null)
    throw new UsageError(`--sample must be above 0% and at most 100%, not "${text}"`, {
      hint: 'such as --sample 10%',
    })
  if (settings.allow_sample) return sample
  const [whose, where] =
    target === null
      ? ['the default target', 'give the run its own target, with']
      : [
          `the target ${target}`,
          `if nobody relies on its rows, write under targets.${target} in eider.yml:`,
        ]
  throw new UsageError(`--sample would leave ${whose} with a part of its rows`, {
    hint: `${where} allow_sample: true`,
  })
}
