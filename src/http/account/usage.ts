import { formatId, type IdPrefix } from '../../domain/ids.ts'
import { jobIdPrefix } from '../../domain/jobs/job.ts'
import type { Attribution } from '../../domain/ledger/attribution.ts'
import { formatUsd, subtractUsd } from '../../domain/money.ts'
import type { ImageTokens } from '../../domain/pricing/image-tokens.ts'
import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import { instant } from '../../domain/time.ts'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Charge } from '../../gateway/ports/ledger/charge.ts'
import type { Ledger } from '../../gateway/ports/ledger/ledger.ts'
import type { NetTotals, TimeRange, UsageLine, UsagePage } from '../../gateway/ports/ledger/ledger-reports.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { pageOf, readPage, readTimeRange, refuseUnknown, rowsBefore, type PageQuery } from '../list-query.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import {
  groupedUsage,
  isGrouped,
  readSelection,
  selectedTotals,
  selectionParameters,
  type UsageSelection,
} from './grouped-usage.ts'
import { keysOfProject, projectsOfKeys, type ProjectPorts } from './projects-of-keys.ts'

/**
 * `GET /v1/usage?limit=&cursor=&from=&to=&group_by=&tag=&user=&project=`: the charged requests of the account, newest
 * first, or their sums by tag or user. A time range limits them, and the reply has its totals.
 */
export async function readUsage(
  { query, signal }: IncomingRequest,
  { account }: Authenticated,
  ports: { readonly ledger: Ledger; readonly clock: Clock } & ProjectPorts,
): Promise<HttpReply> {
  const { ledger, clock, apiKeys, projects } = ports
  const parameters = new URLSearchParams(query)
  refuseUnknown(parameters, ['limit', 'cursor', 'from', 'to', ...selectionParameters])
  const page = readPage(parameters)
  const between = readTimeRange(parameters, clock.now())
  const selection = readSelection(parameters, between, await keysOfProject(parameters, account.id, ports))
  if (isGrouped(selection))
    return jsonReply(200, {
      object: 'list',
      ...(await groupedUsage(account.id, selection, { page, signal, sumsOf: sumsJson }, ledger)),
    })
  const lines = await ledger.usage(account.id, usagePage(page, selection))
  const projectOf = projectsOfKeys(await apiKeys.list(account.id), await projects.list(account.id))
  const listed = pageOf(lines, page.limit, {
    cursorOf: line => line.cursor,
    rowOf: line => ({ ...usageJson(line), project: projectOf.get(line.apiKeyId) ?? null }),
  })
  if (selection === undefined) return jsonReply(200, { object: 'list', ...listed })
  const totals = await selectedTotals(account.id, selection, signal, ledger)
  return jsonReply(200, {
    object: 'list',
    ...listed,
    totals: totalsJson(selection.between, totals, sumsJson),
  })
}

/** The rows to read for a page of usage. */
export function usagePage(asked: PageQuery, selection: UsageSelection | undefined): UsagePage {
  const { between, matching } = selection ?? {}
  return {
    ...rowsBefore(asked),
    ...(between === undefined ? {} : { between }),
    ...(matching === undefined ? {} : { matching }),
  }
}

/** The sums of all charges of a time range, in the members of `sumsOf`. */
export function totalsJson<Sums extends object>(
  { fromMs, toMs }: TimeRange,
  totals: NetTotals,
  sumsOf: (totals: NetTotals) => Sums,
) {
  return { from: instant(fromMs), to: instant(toMs), ...sumsOf(totals) }
}

/** The sums of charges as customers see them. The cost is net of the refunds that were made in the same time. */
export function sumsJson(totals: NetTotals) {
  return {
    charges: totals.charges,
    input_tokens: totals.inputTokens,
    output_tokens: totals.outputTokens,
    images: totals.images,
    seconds: totals.durationMs / 1000,
    cost_usd: formatUsd(subtractUsd(totals.cost, totals.refunded)),
    refunded_usd: formatUsd(totals.refunded),
  }
}

/** The prefix of a charge's id. A charge of media has the id of its job. */
export const idPrefixOf = {
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
    ...attributionJson(line),
    cost_usd: formatUsd(line.cost),
    refunded_usd: formatUsd(line.refunded),
    created_at: instant(line.atMs),
  }
}

/** For whom a request was made. Members are absent for none. */
export function attributionJson({ tags, userId }: Attribution) {
  return {
    ...(tags === undefined ? {} : { tags: Object.fromEntries(tags) }),
    ...(userId === undefined ? {} : { user: userId }),
  }
}

/** The tokens of images that are priced by them. */
function tokensJson(tokens: ImageTokens | undefined) {
  if (tokens === undefined) return {}
  return {
    text_input_tokens: tokens.textInput,
    image_input_tokens: tokens.imageInput,
    text_output_tokens: tokens.textOutput,
    image_output_tokens: tokens.imageOutput,
  }
}

/** The charged quantities. `usage` of text has the totals and the buckets of the tariff, which do not overlap. */
function measureJson(charge: Charge) {
  if (charge.kind === 'images')
    return {
      usage: { images: charge.images, ...tokensJson(charge.tokens) },
      source: 'reported',
      is_clamped: false,
    }
  if (charge.kind === 'video')
    return { usage: { seconds: charge.durationMs / 1000 }, source: 'reported', is_clamped: false }
  const { usage } = charge
  return {
    usage: {
      input_tokens: inputTokens(usage),
      output_tokens: outputTokens(usage),
      cached_input_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite,
      cache_write_1h_tokens: usage.cacheWrite1h,
      audio_input_tokens: usage.audioInput,
      reasoning_tokens: usage.reasoning,
      audio_output_tokens: usage.audioOutput,
      server_tool_uses: usage.serverToolUses,
      ...(charge.assumedCached !== undefined && { assumed_cached_tokens: charge.assumedCached }),
      search_calls: usage.searchCalls,
      file_searches: usage.fileSearches,
      service_tier: usage.serviceTier ?? null,
    },
    source: charge.provenance,
    is_clamped: charge.isClamped,
  }
}
