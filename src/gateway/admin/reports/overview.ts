import { uncallableModels, type Callable, type Catalog } from '../../../domain/catalog/catalog.ts'
import type { OpenState } from '../../../domain/jobs/job.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import { addUpRequests, type RequestSums } from '../../../domain/requests/request-report.ts'
import type { BooksCheck } from '../../books/books-guard.ts'
import type { DamagedResults } from '../../media/files/damaged-results.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { RequestRecords } from '../../ports/requests/request-records.ts'
import type { CircuitState } from '../../upstreams/upstream-health.ts'
import { NO_MARGIN, reportMargins, type Margin, type MarginPorts } from './margins.ts'

/** Whether the books accept paid work. */
export type BooksState = {
  readonly isWritable: boolean
  /** Why no account may start paid work, as a sentence. Undefined if accounts may. */
  readonly stop: string | undefined
  /** The accounts that may not start paid work because of their own books. */
  readonly stoppedAccounts: number
  /** Undefined before the first check has ended. */
  readonly lastCheck: BooksCheck | undefined
}

export type OverviewPorts = MarginPorts & {
  readonly ledger: Pick<Ledger, 'heldNow'>
  readonly jobs: Pick<Jobs, 'openCounts'>
  readonly records: Pick<RequestRecords, 'report' | 'isOn' | 'problem'>
  readonly circuitBreakers: { states(): readonly CircuitState[] }
  readonly booksState: () => BooksState
  readonly storeProblem: () => Promise<string | undefined>
  readonly damagedResults: Pick<DamagedResults, 'list'>
  readonly catalog: { current(): Catalog }
  readonly isVariableSet: (variable: string) => boolean
  readonly isSandboxOn: boolean
  readonly serves: Callable['serves']
  readonly clock: Clock
}

export const alertKinds = ['books', 'store', 'circuit', 'records', 'results', 'model'] as const

/** A fact that the operator should look at, as a sentence. */
export type Alert = {
  readonly kind: (typeof alertKinds)[number]
  readonly message: string
}

export type Overview = {
  /**
   * Of the current day in UTC, and of it and the 29 days before. Undefined while an upgrade adds up earlier charges.
   */
  readonly margins: { readonly today: Margin; readonly days30: Margin } | undefined
  /** Of the last 24 hours, in whole hours. Undefined if the records cannot be read now. */
  readonly requests: RequestSums | undefined
  readonly isRecording: boolean
  readonly circuits: readonly CircuitState[]
  readonly openJobs: Readonly<Record<OpenState, number>>
  readonly held: Readonly<Record<HoldKind, NanoUsd>>
  readonly books: BooksState
  readonly alerts: readonly Alert[]
}

const MS_PER_HOUR = 3_600_000
const MS_PER_DAY = 24 * MS_PER_HOUR
/** Of models in one alert. */
const NAMES_MAX = 3
/** More would hide the others. */
const ALERTS_OF_MODELS_MAX = 5

/** What an operator looks at first. It reads sums only, so its cost does not grow with the number of requests. */
export async function readOverview(ports: OverviewPorts): Promise<Overview> {
  const nowMs = ports.clock.now()
  const [margins, requests, openJobs, held, storeProblem] = await Promise.all([
    readMargins(Math.floor(nowMs / MS_PER_DAY), ports).catch(() => undefined),
    readRequests(nowMs, ports).catch(() => undefined),
    ports.jobs.openCounts(),
    ports.ledger.heldNow(),
    ports.storeProblem(),
  ])
  const books = ports.booksState()
  const circuits = ports.circuitBreakers.states()
  return {
    margins,
    requests,
    isRecording: ports.records.isOn,
    circuits,
    openJobs,
    held,
    books,
    alerts: [
      ...booksAlerts(books, storeProblem),
      ...circuits
        .filter(({ state }) => state !== 'closed')
        .map(state => circuitAlert(state, ports.catalog.current())),
      ...otherAlerts(ports),
      ...modelAlerts(ports),
    ],
  }
}

async function readMargins(today: number, ports: MarginPorts): Promise<Overview['margins']> {
  const { groups, totals } = await reportMargins({ by: 'day', firstDay: today - 29, lastDay: today }, ports)
  const date = new Date(today * MS_PER_DAY).toISOString().slice(0, 10)
  return { today: groups.get(date) ?? NO_MARGIN, days30: totals }
}

async function readRequests(nowMs: number, { records }: OverviewPorts): Promise<RequestSums> {
  const toMs = (Math.floor(nowMs / MS_PER_HOUR) + 1) * MS_PER_HOUR
  const report = await records.report({ by: 'hour', between: { fromMs: toMs - MS_PER_DAY, toMs } })
  return addUpRequests(report.values())
}

function booksAlerts(books: BooksState, storeProblem: string | undefined): readonly Alert[] {
  const alerts: Alert[] = []
  if (books.stop !== undefined)
    alerts.push({ kind: 'books', message: `No paid work is accepted. ${books.stop}` })
  if (!books.isWritable)
    alerts.push({ kind: 'store', message: 'The store cannot be written, so paid work is refused.' })
  if (storeProblem !== undefined) alerts.push({ kind: 'store', message: storeProblem })
  if (books.stoppedAccounts > 0)
    alerts.push({
      kind: 'books',
      message: `Paid work of ${books.stoppedAccounts} accounts is refused, because their books have a problem. Run a check of the books.`,
    })
  return alerts
}

function circuitAlert({ provider, model, failures }: CircuitState, catalog: Catalog): Alert {
  const failed = `"${model}" of the provider "${provider}" failed ${failures} times in a row.`
  return { kind: 'circuit', message: `${failed} ${consequenceOf({ provider, model }, catalog)}` }
}

/** What an open circuit means for the models that its upstream serves. */
function consequenceOf(
  { provider, model }: Pick<CircuitState, 'provider' | 'model'>,
  { models }: Catalog,
): string {
  const served = [...models.values()].filter(({ upstreams }) =>
    upstreams.some(upstream => upstream.provider === provider && upstream.model === model),
  )
  const alone = served.filter(({ upstreams }) => upstreams.length === 1).map(({ id }) => `"${id}"`)
  if (alone.length === 0) return 'Other upstreams are preferred.'
  const names = alone.slice(0, NAMES_MAX).join(', ')
  const more = alone.length > NAMES_MAX ? ` and ${alone.length - NAMES_MAX} more` : ''
  return `No other upstream serves ${names}${more}.`
}

function otherAlerts({ records, damagedResults }: OverviewPorts): readonly Alert[] {
  const damaged = damagedResults.list().length
  return [
    ...(records.problem === undefined
      ? []
      : [{ kind: 'records', message: `Records of requests are being lost: ${records.problem}.` } as const]),
    ...(damaged === 0
      ? []
      : [
          {
            kind: 'results',
            message: `The results of ${damaged} paid jobs are missing or changed.`,
          } as const,
        ]),
  ]
}

function modelAlerts(ports: OverviewPorts): readonly Alert[] {
  return uncallableModels(ports.catalog.current(), ports)
    .slice(0, ALERTS_OF_MODELS_MAX)
    .map(({ id, reason }) => ({ kind: 'model', message: `The model "${id}" cannot be used. ${reason}` }))
}
