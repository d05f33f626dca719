// Whether the rows of a set can be trusted, in one line, and the whole of it below.

import type { ComponentChildren } from 'preact'
import { groupDigits, localTime, shortTime } from '../model/show.ts'
import { type CheckResult, type Trust, trustOf, type Verdict } from '../model/trust.ts'
import { usePage } from '../page.ts'
import { Ago, Link, ModelLink } from './link.tsx'
import { useValue } from './use-value.ts'
import './trust-line.css'

/** The more there are, the less is each of them read. */
const MOST_CHECKS = 4

export function TrustLine({ model }: { model: string }) {
  const page = usePage()
  const health = useValue(page.health)
  const { catalog } = page
  if (catalog === null || !catalog.is_whole) return null
  const trust = trustOf(catalog, model, health?.status === 'ok' ? health.fresh_at : null)
  if (trust.verdict === 'unknown') return null
  return (
    <details class={`trust trust-${trust.verdict}`}>
      <summary>{summaryOf(trust).map((part, i) => [i > 0 && ' · ', part])}</summary>
      <TrustDetails trust={trust} />
    </details>
  )
}

/** What matters most comes first: in a narrow window the end is cut. */
function summaryOf(trust: Trust): readonly ComponentChildren[] {
  const { failed, upstream, rowsOf, checkedAt, checks, owner, lateBy } = trust
  const found = checks.filter(({ result }) => result === 'found')
  const fails = found.filter(({ severity }) => severity === 'fail')
  const warns = found.filter(({ severity }) => severity === 'warn')
  const holds = checks.filter(({ result }) => result === 'holds')
  const others = trust.warned - warns.length
  const parts: ComponentChildren[] = []
  if (failed !== null && fails.length === 0)
    parts.push(<b class="trust-bad">✕ the last run failed</b>)
  for (const check of fails.slice(0, MOST_CHECKS)) parts.push(<Check check={check} isLoud />)
  if (failed !== null)
    parts.push(
      <>
        failed <Ago at={failed.at} />
      </>,
    )
  if (failed === null && upstream.length > 0)
    parts.push(
      <b class="trust-bad">
        ✕ <bdi>{upstream[0]}</bdi>
        {upstream.length > 1 && ` and ${upstream.length - 1} more`} failed before it
      </b>,
    )
  if (rowsOf !== null)
    parts.push(
      <>
        {trust.verdict === 'failed' ? 'these rows are of ' : 'data of '}
        <At at={rowsOf.at} />
      </>,
    )
  if (checkedAt !== null)
    parts.push(
      <>
        checked <Ago at={checkedAt} />
      </>,
    )
  if (lateBy !== null) parts.push(<span class="trust-warn">! late by {minutes(lateBy)}</span>)
  for (const check of warns.slice(0, MOST_CHECKS)) parts.push(<Check check={check} />)
  if (others > 0)
    parts.push(
      <span class="trust-warn">
        ! {others} {others === 1 ? 'warning' : 'warnings'}
      </span>,
    )
  if (holds.length > MOST_CHECKS) parts.push(`✓ ${holds.length} checks`)
  else for (const check of holds) parts.push(<Check check={check} />)
  if (owner !== null) parts.push(<bdi>{owner}</bdi>)
  return parts
}

function TrustDetails({ trust }: { trust: Trust }) {
  const { failed, upstream, rowsOf, checks, warnings, owner, tags } = trust
  return (
    <div class="trust-details">
      {failed !== null && (
        <p>
          The run of{' '}
          <Link to={{ view: 'run', id: failed.run_id }}>
            <At at={failed.at} />
          </Link>{' '}
          failed{failed.because === '' ? '.' : ': '}
          <span class="because">{failed.because}</span>
        </p>
      )}
      {upstream.length > 0 && (
        <p>
          Failed before it:{' '}
          {upstream.map((name, i) => (
            <span key={name}>
              {i > 0 && ', '}
              <ModelLink model={name} />
            </span>
          ))}
        </p>
      )}
      {rowsOf !== null && (
        <p>
          Its rows were made by the run of{' '}
          {rowsOf.runId === null ? (
            <At at={rowsOf.at} />
          ) : (
            <Link to={{ view: 'run', id: rowsOf.runId }}>
              <At at={rowsOf.at} />
            </Link>
          )}
          .
        </p>
      )}
      <CheckList checks={checks} />
      {warnings.map((warning) => (
        <p key={warning} class="trust-warn">
          ! {warning}
        </p>
      ))}
      {(owner !== null || tags.length > 0) && (
        <p class="soft">
          <bdi>{[owner, ...tags].filter(Boolean).join(' · ')}</bdi>
        </p>
      )}
    </div>
  )
}

export function CheckList({ checks }: { checks: readonly CheckResult[] }) {
  if (checks.length === 0) return null
  return (
    <ul class="checks">
      {checks.map((check) => (
        <li key={`${check.severity} ${check.text}`}>
          <Check check={check} />
        </li>
      ))}
    </ul>
  )
}

const SIGNS = { holds: '✓', unknown: '–' } as const
const SAID = { holds: 'holds', unknown: 'the last run did not come to it' } as const

/** A sign and a word; colour is never the only one. */
function Check({ check, isLoud = false }: { check: CheckResult; isLoud?: boolean }) {
  const { severity, text, result, rows } = check
  if (result !== 'found')
    return (
      <span title={SAID[result]}>
        <span role="img" aria-label={SAID[result]}>
          {SIGNS[result]}
        </span>{' '}
        <code>{text}</code>
        {result === 'unknown' && ' · not run'}
      </span>
    )
  const isBad = severity === 'fail'
  const shown = (
    <>
      {isBad ? '✕' : '!'} <code>{text}</code> · {groupDigits(rows!.replaceAll(',', ''))}{' '}
      {rows === '1' ? 'row' : 'rows'}
      {!isBad && ' · warns'}
    </>
  )
  return isLoud ? (
    <b class="trust-bad">{shown}</b>
  ) : (
    <span class={isBad ? 'trust-bad' : 'trust-warn'}>{shown}</span>
  )
}

const MARKS: Readonly<Partial<Record<Verdict, readonly [sign: string, name: string]>>> = {
  failed: ['✕', 'It or what it reads failed in the last run'],
  warned: ['⚠', 'A check warned in the last run'],
}

export function TrustMark({ verdict }: { verdict: Verdict }) {
  const [sign, name] = MARKS[verdict] ?? []
  if (sign === undefined) return null
  return (
    <span class={`trust-mark trust-mark-${verdict}`} role="img" aria-label={name} title={name}>
      {sign}
    </span>
  )
}

function At({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${at}\n${localTime(at) ?? ''}`}>
      {shortTime(at, Date.now())}
    </time>
  )
}

function minutes(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}
