import type { Provider } from '../../domain/catalog/provider.ts'
import { scrubReplyError } from '../../protocol/scrub-reply-error.ts'
import type { AdmitPorts, AdmittedRequest } from './admit-text.ts'
import { chargeOf, tellCharge } from './settle-text.ts'
import { attemptResult, type Verdict } from '../upstreams/attempt-result.ts'
import { LATE_MS, type LateAnswers } from '../upstreams/late-answers.ts'
import { meterUsage, reportedCostOf } from './meter-usage.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { ProviderOutcome, TextProvider } from '../ports/text-provider.ts'
import { priceText } from './quote-text.ts'
import type { Tokenizer } from '../ports/tokenizer.ts'
import { refuseText } from './refuse-text.ts'
import type { Destination } from './resolve-model.ts'
import type { WholeReply } from './text-call.ts'
import { callWithFailover, type AskPorts } from '../upstreams/call-with-failover.ts'
import { upstreamSecrets } from './upstream-secrets.ts'
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
  job: AdmittedRequest,
  ports: TextPorts,
  settings: TextSettings,
  signal?: CallerSignal,
): Promise<WholeReply> {
  const { call, model, quote, hold, destinations } = job
  const terms = { providers: ports.providers, readTimeoutMs: settings.readTimeoutMs, signal }
  let refusal: WholeReply
  try {
    const [only] = destinations
    // Most rows have one upstream, and then there is nothing to choose, to switch to or to remember.
    const verdict =
      destinations.length === 1 && only !== undefined
        ? verdictOf(await callUpstream(job, only, terms), job)
        : await callWithFailover(
            job,
            async destination => verdictOf(await callUpstream(job, destination, terms), job),
            ports,
            { switchWithinMs: settings.readTimeoutMs },
          )
    if (verdict.verdict === 'answer') {
      const { answer, outcome } = verdict
      const metering = meterUsage(answer, job, ports.tokenizer)
      const metered = metering instanceof Promise ? await metering : metering
      const price = priceText(quote, metered, reportedCostOf(answer, outcome.reportedCost))
      const { cost } = await ports.holds.capture(hold, chargeOf(job, metered, price, ports.clock.now()))
      const told = tellCharge(job, metered, price, cost)
      const receipt = { id: call.id, model: model.id, usage: metered.usage, cost: told }
      const reply = job.dialect.forClient(answer, receipt, job.request)
      const body = answer.hasError
        ? scrubReplyError(reply, upstreamSecrets(destinations, ports.secretOf))
        : reply
      const { rateLimits = '' } = outcome
      const headers = job.dialect.headersOf?.(job.request) ?? outcome.headers
      return { status: 200, headers, rateLimits, body, cost: told }
    }
    if (verdict.verdict === 'timeout') await ports.lateAnswers.expect(job, verdict.late)
    refusal = refuseText(verdict, job, ports.secretOf)
  } catch (error) {
    // Changes nothing where the charge was made already.
    await ports.holds.release(hold)
    throw error
  }
  await ports.holds.release(hold)
  return refusal
}

function callUpstream(
  { call, dialect, request }: AdmittedRequest,
  { provider, upstream }: Destination,
  {
    providers,
    readTimeoutMs,
    signal,
  }: Pick<TextPorts, 'providers'> & {
    readonly readTimeoutMs: number
    readonly signal: CallerSignal | undefined
  },
): Promise<ProviderOutcome> {
  call.trace.provider = provider.id
  return providers[provider.kind].complete(
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
}

function verdictOf(outcome: ProviderOutcome, job: AdmittedRequest): Verdict {
  if (outcome.outcome === 'answered') job.call.trace.upstreamStatus = outcome.status
  return attemptResult(outcome, job.dialect, usageLimits(job))
}
