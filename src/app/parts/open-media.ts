import { createHash } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { JobKind } from '../../domain/jobs/job.ts'
import { formatUsd, ZERO } from '../../domain/money.ts'
import { inputSpool } from '../../gateway/byte-budgets/body-budgets.ts'
import { DamagedResults } from '../../gateway/media/files/damaged-results.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { JobRunner } from '../../gateway/media/work/job-runner.ts'
import { observedJobs, type JobObserver } from '../../gateway/media/observe-jobs.ts'
import { NoMediaTries, RESULT_FETCHES_MAX, Slots } from '../../gateway/media/settle/fetch-result.ts'
import { inputRemover } from '../../gateway/media/create/job-inputs.ts'
import type { SubmitPorts } from '../../gateway/media/work/submit-job.ts'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { ProviderAdapters } from '../../gateway/ports/providers/providers.ts'
import { secretsOf } from '../../gateway/upstreams/upstream-secrets.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { untrustedFetch } from '../../providers/fetch-untrusted/fetch-untrusted.ts'
import { isPrivateHost, systemResolver } from '../../providers/fetch-untrusted/address-guard.ts'
import { jobLevel, jobLine } from '../../telemetry/job-line.ts'
import type { JobMetrics } from '../../telemetry/job-metrics.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import type { Node } from '../node/node.ts'
import { openJobFiles, type JobFiles } from './open-job-files.ts'
import { version } from '../version.ts'

/** Unknown statuses of providers that are logged, so that a provider with endless ones cannot fill the memory. */
const LOGGED_STATUSES_MAX = 1000

export type MediaParts = SubmitPorts & {
  readonly resultStore: JobFiles['resultStore']
  readonly runner: JobRunner
  readonly damagedResults: DamagedResults
  /** Ends the running pass of the reconciler. */
  readonly stop: () => void
  readonly stopping: CallerSignal
  readonly serves: (provider: Provider, kind: JobKind) => boolean
  readonly random: () => number
  readonly newHash: () => ReturnType<typeof createHash>
}

/** Opens what image and video requests need: the blob store, the providers that make media, and the runner of jobs. */
export async function openMedia(parts: {
  readonly node: Node
  /** Of this machine. */
  readonly ownClock: Clock
  readonly log: Log
  readonly blobFolder: string
  readonly config: Config
  readonly providers: ProviderAdapters
  /** The client over sockets, whether or not there is a proxy: only it connects to the address that was checked. */
  readonly sockets: HttpClient
  /** The client that uses the proxy, if there is one. */
  readonly http: HttpClient
  readonly secretOf: (provider: Provider) => string | undefined
  readonly jobMetrics: JobMetrics
}): Promise<MediaParts> {
  const { node, log, config, providers, secretOf, jobMetrics } = parts
  const { clock } = node
  const { blobs, resultStore } = await openJobFiles(config, {
    folder: parts.blobFolder,
    http: parts.http,
    clock: parts.ownClock,
  })
  const onFailed = (error: unknown) => log.error('work on a media job failed', errorFields(error))
  // The observers are outside of the store, so they hear only of what it has done.
  const jobs = observedJobs(node.jobs, [jobLog(log), jobMetrics, inputRemover({ blobs, onFailed })])
  const ports: SubmitPorts = {
    jobs,
    blobs,
    clock,
    catalog: node.catalog,
    providerOf: ({ kind }) => providers[kind].media?.provider,
    secretsOf: provider => secretsOf(provider, secretOf),
    fetchUntrusted: untrustedFetch({
      http: parts.sockets,
      resolve: systemResolver,
      clock,
      version,
      allowsPrivate: config.arePrivateAddressesAllowed,
    }),
    isPrivate: async ({ baseUrl }) =>
      baseUrl !== undefined && isPrivateHost(new URL(baseUrl), systemResolver),
    resultFetches: new Slots(RESULT_FETCHES_MAX),
    noMedia: new NoMediaTries(),
    onFailed,
    onUnknownStatus: unknownStatusReporter(log, jobMetrics),
    inputSpool: inputSpool(config.spoolBytesMax, clock),
  }
  const stopping = new AbortController()
  return {
    ...ports,
    resultStore,
    runner: new JobRunner(ports, config),
    damagedResults: new DamagedResults(({ job, key, damage }) => {
      const line = { job_id: publicId(job), file: key, damage, cost_usd: formatUsd(job.cost ?? ZERO) }
      log.error('the stored result of a paid job cannot be served; refund its charge', line)
      jobMetrics.resultDamaged(job)
    }),
    stop: () => stopping.abort(),
    stopping: stopping.signal,
    serves: ({ kind }, jobKind) => providers[kind].media?.kinds.includes(jobKind) === true,
    random: () => Math.random(),
    newHash: () => createHash('sha256'),
  }
}

/** Writes a line for each change of a job. */
function jobLog(log: Log): JobObserver {
  return {
    changed: job => log[jobLevel(job)]('job', jobLine(job)),
    finishedLate: job => log.warn('job finished late', jobLine(job)),
  }
}

/** Counts every unknown status, and logs each once: a job with one is polled for a day. */
function unknownStatusReporter(log: Log, { countUnknownStatus }: JobMetrics) {
  const logged = new Set<string>()
  return (provider: string, status: string) => {
    countUnknownStatus(provider)
    const name = `${provider} ${status}`
    if (logged.has(name) || logged.size === LOGGED_STATUSES_MAX) return
    logged.add(name)
    log.warn('a provider sent an unknown job status', { provider, status })
  }
}
