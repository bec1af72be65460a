import type { Provider } from '../domain/catalog/provider.ts'
import type { AdmitPorts, TextJob } from './admit-text.ts'
import { chargeText } from './charge-text.ts'
import { judgeOutcome, type Verdict } from './judge-outcome.ts'
import { LATE_MS, type LateAnswers } from './late-answers.ts'
import { meterUsage, reportedCostOf } from './meter-usage.ts'
import type { TextProvider } from './ports/text-provider.ts'
import type { Tokenizer } from './ports/tokenizer.ts'
import { refuseText } from './refuse-text.ts'
import type { Destination } from './servable-model.ts'
import type { WholeReply } from './text-call.ts'
import { askUpstreams, type AskPorts } from './upstreams/ask-upstreams.ts'
import { usageLimits } from './usage-limits.ts'

export type TextPorts = AskPorts &
  AdmitPorts & {
    readonly providers: { readonly [kind in Provider['kind']]: TextProvider }
    readonly tokenizer: Tokenizer
    /** A provider's key, to be taken out of texts that go to clients. */
    readonly secretOf: (provider: Provider) => string | undefined
    readonly lateAnswers: LateAnswers
    /** Told of what could not be written for a request that nobody waits for any more. */
    readonly onSettleFailed: (error: unknown) => void
  }

export type TextSettings = {
  readonly readTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  readonly isSandboxOn: boolean
}

/**
 * Answers one admitted request with JSON: asks its upstreams, charges what the answer used, and only then replies. Throws a
 * GatewayError for every refusal; after one, nothing is held and nothing was charged.
 *
 * Without a `signal`, what was asked for is finished and charged, also when its client leaves. With one, the upstream's call
 * ends when it fires, unless its time was over before.
 */
export async function runText(
  job: TextJob,
  ports: TextPorts,
  settings: TextSettings,
  signal?: AbortSignal,
): Promise<WholeReply> {
  const { readTimeoutMs } = settings
  let refusal: WholeReply
  try {
    const verdict = await askUpstreams(
      job,
      destination => askUpstream(job, destination, ports.providers, { readTimeoutMs, signal }),
      ports,
      { switchWithinMs: readTimeoutMs },
    )
    if (verdict.verdict === 'answer') {
      const { answer, outcome } = verdict
      const metering = meterUsage(answer, job, ports.tokenizer)
      const metered = metering instanceof Promise ? await metering : metering
      const reportedCost = reportedCostOf(answer, outcome.reportedCost)
      const { told } = await chargeText(job, { ...metered, reportedCost }, ports)
      const receipt = { id: job.call.id, model: job.model.id, usage: metered.usage, cost: told }
      const body = job.dialect.forClient(answer, receipt, job.request)
      return { status: 200, headers: outcome.headers, body, cost: told }
    }
    if (verdict.verdict === 'timeout') await ports.lateAnswers.expect(job, verdict.late)
    refusal = refuseText(verdict, job, ports.secretOf)
  } catch (error) {
    // Changes nothing where the charge was made already.
    await ports.holds.release(job.hold)
    throw error
  }
  await ports.holds.release(job.hold)
  return refusal
}

async function askUpstream(
  job: TextJob,
  { provider, upstream }: Destination,
  providers: TextPorts['providers'],
  { readTimeoutMs, signal }: { readonly readTimeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<Verdict> {
  const { call, dialect, request } = job
  call.trace.provider = provider.id
  const outcome = await providers[provider.kind].complete(
    {
      provider,
      route: dialect.upstreamRoute,
      model: upstream.model,
      body: dialect.forUpstream(request, upstream.model, provider),
      readTimeoutMs,
      lateMs: LATE_MS,
    },
    signal,
  )
  if (outcome.outcome === 'answered') call.trace.upstreamStatus = outcome.status
  return judgeOutcome(outcome, dialect, usageLimits(job))
}
