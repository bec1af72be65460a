import { formatId } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import { formatExactUsd } from '../../domain/pricing/exact-usd.ts'
import {
  itemizeImages,
  itemizeTokens,
  itemizeVideo,
  type ChargeArithmetic,
  type ItemName,
} from '../../domain/pricing/itemize-charge.ts'
import { bucketNames } from '../../domain/pricing/usage.ts'
import { instant } from '../../domain/time.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import type { RecordedRequest } from '../../gateway/ports/requests/request-records.ts'
import type { BookedMovement, BookedCharge } from '../../gateway/ports/ledger/booked-items.ts'
import { explainRequest } from '../../gateway/requests/explain-request.ts'
import type { FoundRequest } from '../../gateway/requests/find-request.ts'
import { usageJson } from './usage.ts'

/** A recorded request, as its account sees it. */
export function recordJson(record: RecordedRequest) {
  return {
    id: record.id,
    object: 'request',
    created_at: instant(record.atMs),
    key: record.apiKeyId,
    project: record.projectId ?? null,
    route: record.route,
    model: record.model ?? null,
    status: record.status,
    error_code: record.errorCode ?? null,
    duration_ms: record.durationMs,
    first_byte_ms: record.firstByteMs ?? null,
    held_usd: usdOrNull(record.held),
    required_usd: usdOrNull(record.required),
    available_usd: usdOrNull(record.available),
    refused_by: record.refusedBy ?? null,
    cost_usd: usdOrNull(record.cost),
    job: record.jobId ?? null,
    is_replay: record.isReplay,
    replay_of: record.replayOf ?? null,
    client_disconnected: record.clientDisconnected,
    tags: record.tags ?? {},
    user: record.userId ?? null,
    alike_refusals: record.alikeRefusals,
  }
}

/** Only the operator sees the providers, and the notes of money movements. */
type Reader = { readonly isForOperator: boolean }

/** The page of a request. */
export function requestPage(found: FoundRequest, reader: Reader) {
  const { outcome, why } = explainRequest(found, reader)
  const { record, booked, job } = found
  return {
    id: found.id,
    object: 'request_page',
    outcome,
    why,
    request: record === undefined ? null : recordJson(record),
    hold: holdJson(found),
    charge: booked?.charge === undefined ? null : chargeJson(booked.charge, reader),
    job: job === undefined ? null : jobJson(job),
  }
}

/** The page of a credit or a debit. `amount_usd` is negative for a debit, as in the statement. */
export function movementPage({ kind, id, amount, note, atMs }: BookedMovement, { isForOperator }: Reader) {
  return {
    id: formatId('op', id),
    object: 'movement_page',
    kind,
    amount_usd: formatUsd(kind === 'debit' ? subtractUsd(ZERO, amount) : amount),
    ...(isForOperator && { note }),
    created_at: instant(atMs),
  }
}

/** The books have the hold of a job. That of text is only in the record of its request, which is written at its end. */
function holdJson({ record, booked }: FoundRequest) {
  if (booked?.hold !== undefined) {
    const { amount, state, placedAtMs, endedAtMs } = booked.hold
    return {
      amount_usd: formatUsd(amount),
      state,
      placed_at: instant(placedAtMs),
      ended_at: endedAtMs === null ? null : instant(endedAtMs),
    }
  }
  if (record?.held === undefined) return null
  const isGivenBack = booked?.attempts.some(({ state }) => state === 'compensated') === true
  const isCaptured = booked?.charge !== undefined && !isGivenBack
  return {
    amount_usd: formatUsd(record.held),
    state: isCaptured ? 'captured' : 'released',
    placed_at: null,
    ended_at: null,
  }
}

function chargeJson(charge: BookedCharge, { isForOperator }: Reader) {
  return {
    ...usageJson(charge),
    shortfall_usd: formatUsd(charge.shortfall),
    pricing: pricingOf(charge),
    arithmetic: arithmeticJson(charge),
    refunds: charge.refunds.map(({ id, amount, note, atMs }) => ({
      id: formatId('op', id),
      amount_usd: formatUsd(amount),
      ...(isForOperator && { note }),
      created_at: instant(atMs),
    })),
  }
}

/** A charge without a tariff is for a free model, or has the cost of the provider times the markup of its model. */
function pricingOf({ tariff, cost }: BookedCharge): 'tariff' | 'free' | 'upstream_cost' {
  if (tariff !== null) return 'tariff'
  return cost === ZERO ? 'free' : 'upstream_cost'
}

/** The words of the prices in a model of the catalog, without their units. */
const itemNames = {
  ...bucketNames,
  serverToolUses: 'server_tool_use',
  searchCalls: 'search_call',
  fileSearches: 'file_search',
  textInput: 'text_input',
  imageInput: 'image_input',
  textOutput: 'text_output',
  imageOutput: 'image_output',
  request: 'request',
  images: 'image',
  imagesMost: 'max_image',
  milliseconds: 'second',
} as const satisfies Record<ItemName, string>

/** The `item` of each line of the arithmetic. */
export const itemWords: readonly string[] = Object.values(itemNames)

function arithmeticJson(charge: BookedCharge) {
  const arithmetic = arithmeticOf(charge)
  if (arithmetic === undefined) return null
  const { items, sum, total, aboveInputTokens, serviceTier, isAtMost } = arithmetic
  return {
    items: items.map(({ item, quantity, price, per, amount }) => ({
      item: itemNames[item],
      quantity: item === 'milliseconds' ? quantity / per : quantity,
      per: item === 'milliseconds' ? 1 : per,
      price_usd: formatUsd(price),
      amount_usd: formatExactUsd(amount),
    })),
    sum_usd: formatExactUsd(sum),
    total_usd: formatUsd(total),
    above_input_tokens: aboveInputTokens ?? null,
    service_tier: serviceTier === undefined ? null : serviceTier.name,
    // Factors have nine decimals, as amounts of money have.
    service_tier_factor:
      serviceTier === undefined ? null : formatExactUsd({ units: serviceTier.factor, scale: 9 }),
    is_at_most: isAtMost === true,
  }
}

function arithmeticOf(charge: BookedCharge): ChargeArithmetic | undefined {
  switch (charge.kind) {
    case 'text':
      return charge.tariff === null ? undefined : itemizeTokens(charge.usage, charge.tariff)
    case 'images':
      return itemizeImages(charge.images, charge.tariff, charge.tokens)
    case 'video':
      return itemizeVideo(charge.durationMs, charge.tariff)
  }
}

/** A job as its customer sees it. */
function jobJson(job: Job) {
  const { kind, state, failure, held, createdAtMs, changedAtMs, deadlineAtMs } = job
  return {
    id: publicId(job),
    kind,
    state,
    model: job.model,
    route: job.route,
    reserved_usd: formatUsd(held),
    failure: failure === null ? null : { code: failure.code ?? null, message: failure.message },
    created_at: instant(createdAtMs),
    changed_at: instant(changedAtMs),
    deadline_at: instant(deadlineAtMs),
  }
}

function usdOrNull(amount: NanoUsd | undefined): string | null {
  return amount === undefined ? null : formatUsd(amount)
}
