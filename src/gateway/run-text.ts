import type { Provider } from '../domain/catalog/provider.ts'
import type { NanoUsd } from '../domain/money.ts'
import { parseReportedCost } from '../protocol/reported-cost.ts'
import type { TextAnswer, UsageLimits } from '../protocol/text-dialect.ts'
import type { AdmitPorts, TextJob } from './admit-text.ts'
import { chargeText } from './charge-text.ts'
import { judgeOutcome, type Verdict } from './judge-outcome.ts'
import { meterUsage } from './meter-usage.ts'
import type { TextProvider } from './ports/text-provider.ts'
import type { Tokenizer } from './ports/tokenizer.ts'
import { refuseText } from './refuse-text.ts'
import type { Destination } from './servable-model.ts'
import type { WholeReply } from './text-call.ts'
import { askUpstreams, type AskPorts } from './upstreams/ask-upstreams.ts'

export type TextPorts = AskPorts &
  AdmitPorts & {
    readonly providers: { readonly [kind in Provider['kind']]: TextProvider }
    readonly tokenizer: Tokenizer
    /** A provider's key, to be taken out of texts that go to clients. */
    readonly secretOf: (provider: Provider) => string | undefined
    /** Told of a stream whose charge could not be made durable. */
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
 * ends when it fires.
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
    if (verdict.verdict === 'answer') return await answerOf(job, verdict, ports)
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
    },
    signal,
  )
  if (outcome.outcome === 'answered') call.trace.upstreamStatus = outcome.status
  return judgeOutcome(outcome, dialect, usageLimits(job))
}

/** Charges the answer, then makes the reply that names the cost. */
async function answerOf(
  job: TextJob,
  { answer, outcome }: Extract<Verdict, { verdict: 'answer' }>,
  ports: TextPorts,
): Promise<WholeReply> {
  const metered = await meterUsage(answer, job, ports.tokenizer)
  const reportedCost = reportedCostOf(answer, outcome)
  const { told } = await chargeText(job, { ...metered, reportedCost }, ports)
  const receipt = { id: job.call.id, model: job.model.id, usage: metered.usage, cost: told }
  const body = job.dialect.forClient(answer, receipt, job.request)
  return { status: 200, headers: outcome.headers, body, cost: told }
}

/** The provider's configured header first: where an operator set one, it is what the provider is paid by. */
function reportedCostOf(
  answer: TextAnswer,
  outcome: { readonly reportedCost: string | null },
): NanoUsd | null {
  const inHeader = outcome.reportedCost === null ? undefined : parseReportedCost(outcome.reportedCost)
  return inHeader ?? answer.reportedCost
}

/** What the usage of this job cannot exceed. */
export function usageLimits({ model, quote }: TextJob): UsageLimits {
  return {
    inputTokensMax: model.contextWindow,
    outputTokensMax: model.kind === 'chat' ? model.maxOutputTokens * quote.worst.choices : undefined,
  }
}
