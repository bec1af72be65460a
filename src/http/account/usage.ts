import { formatId, type IdPrefix } from '../../domain/ids.ts'
import { jobIdPrefix } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import type { Charge, Ledger, UsageLine } from '../../gateway/ports/ledger.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { pageOf, readPage, rowsBefore } from '../page.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'

/** `GET /v1/usage?limit=&cursor=`: the charged requests of the account, newest first. */
export async function readUsage(
  { query }: IncomingRequest,
  { account }: Authenticated,
  ledger: Ledger,
): Promise<HttpReply> {
  const asked = readPage(new URLSearchParams(query))
  const lines = await ledger.usage(account.id, rowsBefore(asked))
  return jsonReply(200, {
    object: 'list',
    ...pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: usageJson }),
  })
}

/** A charge of media is known by its job. */
const idPrefixOf = {
  text: 'req',
  images: jobIdPrefix.image,
  video: jobIdPrefix.video,
} as const satisfies Record<Charge['kind'], IdPrefix>

/** One charged request or job. */
export function usageJson(line: UsageLine) {
  return {
    id: formatId(idPrefixOf[line.kind], line.id),
    object: 'usage',
    route: line.route,
    model: line.model,
    ...measureJson(line),
    cost_usd: formatUsd(line.cost),
    created_at: new Date(line.atMs).toISOString(),
  }
}

/** What was charged for. `usage` of text has the totals and the buckets of the tariff, which do not overlap. */
function measureJson(charge: Charge) {
  if (charge.kind === 'images')
    return { usage: { images: charge.images }, source: 'reported', is_clamped: false }
  if (charge.kind === 'video')
    return { usage: { seconds: charge.durationMs / 1000 }, source: 'reported', is_clamped: false }
  const { usage } = charge
  return {
    usage: {
      input_tokens: inputTokens(usage),
      output_tokens: outputTokens(usage),
      cached_input_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite,
      audio_input_tokens: usage.audioInput,
      reasoning_tokens: usage.reasoning,
      audio_output_tokens: usage.audioOutput,
    },
    source: charge.provenance,
    is_clamped: charge.isClamped,
  }
}
