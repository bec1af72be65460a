import { formatId } from '../../domain/ids.ts'
import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import type { Ledger, UsageLine } from '../../gateway/ports/ledger.ts'
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

/** One charged request. `usage` has the totals and the buckets of the tariff, which do not overlap. */
export function usageJson(line: UsageLine) {
  const { usage } = line
  return {
    id: formatId('req', line.id),
    object: 'usage',
    route: line.route,
    model: line.model,
    usage: {
      input_tokens: inputTokens(usage),
      output_tokens: outputTokens(usage),
      cached_input_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite,
      audio_input_tokens: usage.audioInput,
      reasoning_tokens: usage.reasoning,
      audio_output_tokens: usage.audioOutput,
    },
    cost_usd: formatUsd(line.cost),
    source: line.provenance,
    is_clamped: line.isClamped,
    created_at: new Date(line.atMs).toISOString(),
  }
}
