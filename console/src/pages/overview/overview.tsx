/** What an operator looks at first: money, requests, circuits, jobs, books, and the charts. */
import { answer, api } from '../../api/client.ts'
import { useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { lastDays } from '../../api/days.ts'
import { Badge, Card, Figure, Figures } from '../../parts/facts.tsx'
import { count, milliseconds, money, moneyToCents, percent } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { overviewTexts } from './texts.ts'
import { mayOperate } from '../../session.ts'
import { readTopMargins, shareOf } from '../margins/read-margins.ts'
import { Charts } from './charts.tsx'
import { FirstSteps } from './first-steps.tsx'

const words = overviewTexts

export type OverviewFacts = components['schemas']['Overview']

export function Overview() {
  const overview = useResource('overview', () => answer(api.GET('/admin/api/overview')))
  // The charts have calls of their own.
  const [turn, setTurn] = useState(0)
  const reload = () => {
    overview.reload()
    setTurn(turn => turn + 1)
  }
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        <button type="button" class="button" disabled={overview.isLoading} onClick={reload}>
          {words.reload}
        </button>
      </PageHead>
      <Loaded of={overview}>
        {facts => (
          <div class="stack">
            {facts.alerts.map(({ kind, message }) => (
              <Note key={message} tone={kind === 'books' || kind === 'store' ? 'bad' : 'warn'}>
                {message}
              </Note>
            ))}
            {isUnused(facts) ? (
              <FirstSteps />
            ) : (
              <>
                {mayOperate() && <StepsToFirstCharge />}
                <Figures>
                  <Money of={facts} />
                  <Traffic of={facts} />
                </Figures>
              </>
            )}
            <Circuits of={facts.circuits} />
            {!isUnused(facts) && <Charts openJobs={facts.open_jobs} turn={turn} />}
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Nobody has sent a request yet, so figures and charts would be empty. */
function isUnused({
  last_30_days: sums,
  requests_24_hours: requests,
  open_jobs: jobs,
}: OverviewFacts): boolean {
  return sums?.charges === 0 && (requests?.requests ?? 0) === 0 && openJobs(jobs) === 0
}

/** What the sandbox charged, which is money of nobody, does not end the first steps. */
function StepsToFirstCharge() {
  const charged = useResource('charged by a provider', isChargedByProvider)
  return charged.value === false ? <FirstSteps /> : null
}

async function isChargedByProvider(): Promise<boolean> {
  const [{ data: providers }, margins] = await Promise.all([
    answer(api.GET('/admin/api/providers')),
    readTopMargins('provider', lastDays(30)),
  ])
  const sandboxes = new Set(providers.filter(({ kind }) => kind === 'sandbox').map(({ id }) => id))
  return margins.data.some(({ provider = '', charges }) => charges > 0 && !sandboxes.has(provider))
}

function openJobs(jobs: OverviewFacts['open_jobs']): number {
  return jobs.queued + jobs.processing + jobs.unknown_submit
}

type Part = { readonly of: OverviewFacts }

function Money({ of: { today, last_30_days: month, held_usd: held } }: Part) {
  return (
    <>
      <Amount label={words.revenueToday} of={today?.revenue_usd} note={charges(today)} />
      <Amount
        label={words.marginToday}
        of={today?.margin_usd}
        note={today === null ? '' : percent(shareOf(today))}
      />
      <Amount label={words.revenue30} of={month?.revenue_usd} note={charges(month)} />
      <Amount
        label={words.margin30}
        of={month?.margin_usd}
        note={month === null ? '' : percent(shareOf(month))}
      />
      <Amount label={words.held} of={held.text} note={words.heldNote} />
      <Amount label={words.heldMedia} of={held.media} note={words.heldNote} />
    </>
  )
}

/** To the cent, with all its decimals as a tooltip. */
function Amount({
  label,
  of,
  note,
}: {
  readonly label: string
  readonly of: string | undefined
  readonly note?: string
}) {
  const value = <span title={money(of)}>{moneyToCents(of)}</span>
  return <Figure label={label} value={value} {...(note !== undefined && { note })} />
}

function charges(sums: OverviewFacts['today']): string {
  return sums === null ? words.addingUp : words.charges(count(sums.charges))
}

function Traffic({ of: { requests_24_hours: requests, open_jobs: jobs, circuits, books } }: Part) {
  return (
    <>
      <Figure
        label={words.requests}
        value={requests === null ? '–' : count(requests.requests)}
        note={requests === null ? words.notRecorded : words.last24}
      />
      <Figure
        label={words.errors}
        value={requests === null ? '–' : count(requests.errors)}
        note={
          requests === null || requests.requests === 0 ? '' : percent(requests.errors / requests.requests)
        }
      />
      <Figure
        label={words.latency}
        value={milliseconds(requests?.duration_p50_ms)}
        note={words.p99(milliseconds(requests?.duration_p99_ms))}
      />
      <CircuitFigure of={circuits} />
      <Figure
        label={words.jobs}
        value={count(openJobs(jobs))}
        note={jobs.unknown_submit > 0 ? words.unconfirmed(count(jobs.unknown_submit)) : words.noneUnconfirmed}
      />
      <Figure
        label={words.books}
        value={<a href="books">{books.accepts_paid_work ? words.booksGood : words.booksStopped}</a>}
        note={booksNote(books)}
      />
    </>
  )
}

/** A circuit that is half open is not closed: the next call decides. */
function CircuitFigure({ of: circuits }: { readonly of: OverviewFacts['circuits'] }) {
  const open = circuits.filter(({ state }) => state === 'open').length
  const tried = circuits.filter(({ state }) => state === 'half_open').length
  const parts = [
    ...(open > 0 ? [words.openCircuits(count(open))] : []),
    ...(tried > 0 ? [words.triedCircuits(count(tried))] : []),
  ]
  return (
    <Figure
      label={words.circuits}
      value={parts.length === 0 ? words.allClosed : parts.join(', ')}
      note={words.ofProviders}
    />
  )
}

function booksNote({ stopped_accounts: stopped, last_check: check }: OverviewFacts['books']): string {
  if (stopped > 0) return words.stoppedAccounts(count(stopped))
  if (check === null) return words.notChecked
  return check.open_problems === 0 ? words.checked : words.problems(count(check.open_problems))
}

function Circuits({ of: circuits }: { readonly of: OverviewFacts['circuits'] }) {
  const failing = circuits.filter(({ failures, state }) => failures > 0 || state !== 'closed')
  if (failing.length === 0) return null
  return (
    <Card title={words.failing}>
      <ul class="stack">
        {failing.map(({ provider, model, state, failures, open_for_ms: openForMs }) => (
          <li key={`${provider} ${model}`} class="row">
            <Badge tone={state === 'open' ? 'bad' : 'warn'}>{words.circuitStates[state]}</Badge>
            <span>
              <a href={`providers/${encodeURIComponent(provider)}`}>{provider}</a> {model}
            </span>
            <span class="soft">
              {words.failures(count(failures))}
              {openForMs !== null && ` ${words.openFor(milliseconds(openForMs))}`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
