import { GatewayError } from '../../domain/errors.ts'
import { formatId, parseId } from '../../domain/ids.ts'
import { formatUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import type { Ledger, Page, UsageLine } from '../../gateway/ports/ledger.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type Reply } from '../request-context.ts'

const LIMIT_STANDARD = 50
const LIMIT_MAX = 500

/**
 * `GET /v1/usage?limit=&after=`: the account's own charged requests, newest first. `after` is the `last_id` of the page
 * before.
 */
export async function readUsage(
  { query }: IncomingRequest,
  { account }: Authenticated,
  ledger: Ledger,
): Promise<Reply> {
  const { limit, before } = usagePage(new URLSearchParams(query))
  // One more than was asked for tells whether there is more.
  const page = before === undefined ? { limit: limit + 1 } : { limit: limit + 1, before }
  const lines = await ledger.usage(account.id, page)
  const data = lines.slice(0, limit).map(usageJson)
  return jsonReply(200, {
    object: 'list',
    data,
    has_more: lines.length > limit,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  })
}

/** Reads `limit` and `after`. Throws `invalid_field` naming the one that is wrong. */
export function usagePage(query: URLSearchParams): Page {
  const limitText = query.get('limit') ?? String(LIMIT_STANDARD)
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw new GatewayError('invalid_field', `"limit" must be a whole number from 1 to ${LIMIT_MAX}.`, {
      param: 'limit',
    })
  }
  const after = query.get('after')
  if (after === null) return { limit }
  const id = parseId('req', after)
  if (id === undefined) {
    throw new GatewayError('invalid_field', '"after" must be the "last_id" of an earlier page.', {
      param: 'after',
    })
  }
  return { limit, before: id.key }
}

/** One charged request as JSON. `usage` has the tariff's buckets, which are disjoint, and both totals. */
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
