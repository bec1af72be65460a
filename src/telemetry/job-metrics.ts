import { Counter, Registry } from 'prom-client'
import type { Job } from '../domain/jobs/job.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { JobObserver } from '../gateway/media/observe-jobs.ts'
import { dollars } from './dollars.ts'
import type { MarginMetrics } from './margin-metrics.ts'

/** The metrics of image and video jobs. */
export type JobMetrics = JobObserver & {
  /** Counts an answer of a provider with a status that its adapter does not know. */
  readonly countUnknownStatus: (provider: string) => void
  /** Counts a paid job whose stored result was found missing or changed. */
  readonly resultDamaged: (job: Pick<Job, 'kind' | 'model'>) => void
  /** The amounts charged for jobs, by model. */
  readonly costs: () => Iterable<readonly [model: string, cost: bigint]>
  /** The Prometheus text format. */
  readonly text: () => Promise<string>
}

export function openJobMetrics(margins: Pick<MarginMetrics, 'charged' | 'unsold'>): JobMetrics {
  const registry = new Registry()
  const { changes, losses, late, unknownStatuses, damagedResults } = openCounters(registry)
  const costs = new Map<string, bigint>()
  const countLoss = (model: string, loss: NanoUsd | null) => {
    if (loss !== null) losses.inc({ model }, dollars(loss))
  }
  const countUnsold = ({
    model,
    provider,
    providerCost,
  }: Pick<Job, 'model' | 'provider' | 'providerCost'>) => {
    if (providerCost !== null) margins.unsold({ model, provider, providerCost })
  }
  return {
    changed({ kind, model, provider, state, failure, cost, loss, providerCost }: Job) {
      changes.inc({ kind, model, state, reason: failure?.reason ?? '' })
      if (cost !== null) {
        costs.set(model, (costs.get(model) ?? 0n) + cost)
        margins.charged({ model, provider, cost, providerCost })
      } else if (state === 'failed') countUnsold({ model, provider, providerCost })
      countLoss(model, loss)
    },
    finishedLate({ model, provider, loss, providerCost }) {
      late.inc({ model })
      countUnsold({ model, provider, providerCost })
      countLoss(model, loss)
    },
    countUnknownStatus: provider => unknownStatuses.inc({ provider }),
    resultDamaged: ({ kind, model }) => damagedResults.inc({ kind, model }),
    costs: () => costs,
    text: () => registry.metrics(),
  }
}

function openCounters(registry: Registry) {
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  return {
    changes: counter(
      'tollgate_job_changes_total',
      'Changes of the states of image and video jobs, by the new state, and the reason of failures.',
      ['kind', 'model', 'state', 'reason'],
    ),
    losses: counter(
      'tollgate_job_losses_usd_total',
      'Dollars of results that providers made and no customer pays for, at the customer prices.',
      ['model'],
    ),
    late: counter(
      'tollgate_late_completions_total',
      'Jobs that the provider finished after their money was released.',
      ['model'],
    ),
    unknownStatuses: counter(
      'tollgate_unknown_job_statuses_total',
      'Answers of providers with an unknown state of a job. Such a job counts as running.',
      ['provider'],
    ),
    damagedResults: counter(
      'tollgate_damaged_results_total',
      'Paid jobs whose stored result was missing or changed when a client asked for it.',
      ['kind', 'model'],
    ),
  }
}
