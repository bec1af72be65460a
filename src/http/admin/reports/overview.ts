import { formatUsd } from '../../../domain/money.ts'
import { instant } from '../../../domain/time.ts'
import { readOverview, type BooksState } from '../../../gateway/admin/reports/overview.ts'
import type { BooksCheck } from '../../../gateway/books/books-guard.ts'
import type { CircuitState } from '../../../gateway/upstreams/upstream-health.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { CatalogPorts, ReportPorts } from '../ports.ts'
import { refuseUnknown } from '../../list-query.ts'
import { marginJson } from './margins.ts'
import { requestSumsJson } from './requests-report.ts'

/** What an operator looks at first: money, requests, circuit breakers, jobs, books and alerts, in one cheap reply. */
export async function getOverview({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  refuseUnknown(query, [])
  const { margins, requests, isRecording, circuits, openJobs, held, books, alerts } =
    await readOverview(ports)
  return adminReply({
    today: margins === undefined ? null : marginJson(margins.today),
    last_30_days: margins === undefined ? null : marginJson(margins.days30),
    requests_24_hours: requests === undefined || !isRecording ? null : requestSumsJson(requests),
    circuits: circuits.map(circuitJson),
    open_jobs: openJobs,
    held_usd: { text: formatUsd(held.text), media: formatUsd(held.media) },
    books: booksJson(books),
    alerts,
  })
}

function booksJson({ isWritable, stop, stoppedAccounts, lastCheck }: BooksState): object {
  return {
    accepts_paid_work: isWritable && stop === undefined,
    is_writable: isWritable,
    stopped_because: stop ?? null,
    stopped_accounts: stoppedAccounts,
    last_check: lastCheck === undefined ? null : lastCheckJson(lastCheck),
  }
}

function lastCheckJson({ atMs, problems, fullAtMs }: BooksCheck): object {
  const fullAt = fullAtMs === undefined ? null : instant(fullAtMs)
  return { at: instant(atMs), open_problems: problems, all_rows: atMs === fullAtMs, all_rows_at: fullAt }
}

function circuitJson({ provider, model, state, failures, openMs }: CircuitState): object {
  return { provider, model, state, failures, open_for_ms: openMs === undefined ? null : Math.ceil(openMs) }
}

/** The circuit breakers and the last failures of every provider, as this node saw them. */
export async function listProviderStates(
  { query }: AdminCall,
  { catalog, circuitBreakers }: CatalogPorts,
): Promise<BufferedReply> {
  refuseUnknown(query, [])
  const circuits = circuitBreakers.states()
  return adminReply({
    data: [...catalog.current().providers.keys()].map(id => {
      const own = circuits.filter(({ provider }) => provider === id)
      return {
        provider: id,
        state: worstOf(own),
        circuits: own.map(circuitJson),
        recent_failures: circuitBreakers.recentFailures(id).map(({ model, reason, atMs }) => ({
          model,
          reason: reason ?? null,
          at: instant(atMs),
        })),
      }
    }),
  })
}

export const providerStates = ['healthy', 'failing', 'half_open', 'open'] as const

function worstOf(circuits: readonly CircuitState[]): (typeof providerStates)[number] {
  if (circuits.some(({ state }) => state === 'open')) return 'open'
  if (circuits.some(({ state }) => state === 'half_open')) return 'half_open'
  return circuits.length === 0 ? 'healthy' : 'failing'
}
