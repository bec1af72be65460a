import { formatId, type Id } from '../../../domain/ids.ts'
import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import { hasTokens } from '../../../domain/pricing/image-tokens.ts'
import type { Provenance } from '../../../domain/pricing/usage.ts'
import type { Captured } from '../../../gateway/ports/ledger/ledger.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { UsageLine } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { attributionColumns, attributionFrom, type AttributionColumns } from './attribution-columns.ts'
import { cursorOf } from '../cursors.ts'
import type { chargesTable } from './money-tables.ts'
import type { NewRow } from './hashed-table.ts'
import type { AccountState } from './operation-rows.ts'
import { imageTariffFrom, tariffFrom, videoTariffFrom } from './tariff-rows.ts'
import {
  imageTokensFrom,
  usageColumns,
  usageFrom,
  usageOfCharge,
  type UsageColumns,
} from './usage-columns.ts'

/** How a charge is booked. */
export type ChargeBooking = {
  readonly id: Id
  readonly shortfall: NanoUsd
  /** The operation of the same step that moves the money; null if none does. */
  readonly operationId: bigint | null
  /** True if the same step credits the cost back. */
  readonly isCompensated?: true
}

/** The row of the next charge of an account. `tariffId` is the row of the charge's tariff. */
export function chargeRow(
  { accountId, current }: Pick<AccountState, 'accountId' | 'current'>,
  charge: Charge,
  { id, shortfall, operationId }: ChargeBooking,
  tariffId: bigint | null,
): NewRow<typeof chargesTable> {
  return {
    id_key: id.key,
    id_tail: id.tail,
    account_id: accountId,
    previous_id: current.latestChargeId,
    operation_id: operationId,
    api_key_id: charge.apiKeyId,
    route: charge.route,
    model: charge.model,
    provider: charge.provider,
    ...usageColumns(usageOfCharge(charge)),
    provenance: charge.kind === 'text' ? charge.provenance : null,
    is_clamped: charge.kind === 'text' && charge.isClamped ? 1 : 0,
    assumed_cached: charge.kind === 'text' ? (charge.assumedCached ?? null) : null,
    images: charge.kind === 'images' ? charge.images : null,
    duration_ms: charge.kind === 'video' ? charge.durationMs : null,
    tariff_id: tariffId,
    cost: charge.cost,
    shortfall,
    at_ms: charge.atMs,
    provider_cost: charge.providerCost,
    ...attributionColumns(charge),
  }
}

/** The columns of the first charge of an id that a repeat is compared with. */
export type ChargedRow = { account_id: bigint; cost: bigint; shortfall: bigint }

/**
 * The outcome of the first capture of this id, for a repeat of it. Throws a RangeError if the first capture was of
 * another account or cost, and if there was none because the hold was released or never placed.
 */
export function repeatedCapture(
  { id, accountId }: { readonly id: Id; readonly accountId: number },
  cost: NanoUsd,
  first: ChargedRow | null,
): Captured {
  const name = formatId('hold', id)
  if (first === null) throw new RangeError(`${name} is not open: it was released or never placed.`)
  if (Number(first.account_id) !== accountId || first.cost !== cost)
    throw new RangeError(`${name} was captured before, with a cost of ${first.cost} nano-USD.`)
  return { cost, shortfall: nanoUsd(first.shortfall) }
}

/** A stored charge with its tariff and its refunds. */
export type ChargeRow = UsageColumns &
  AttributionColumns & {
    id: bigint
    id_key: bigint
    id_tail: bigint
    account_id: bigint
    previous_id: bigint | null
    operation_id: bigint | null
    api_key_id: bigint
    route: string
    model: string
    provider: string
    /** Null for charges that are not for text. */
    provenance: Provenance | null
    images: bigint | null
    duration_ms: bigint | null
    is_clamped: bigint
    assumed_cached: bigint | null
    content: string | null
    refunded: bigint
    cost: bigint
    shortfall: bigint
    at_ms: bigint
    provider_cost: bigint | null
  }

export function usageLineFrom(row: ChargeRow): UsageLine {
  return {
    id: { key: row.id_key, tail: row.id_tail },
    cursor: cursorOf(row.id),
    accountId: Number(row.account_id),
    refunded: nanoUsd(row.refunded),
    ...chargeFrom(row),
  }
}

function chargeFrom(row: ChargeRow): Charge {
  const { route, model, provider, content, provenance, images, duration_ms: durationMs } = row
  const apiKeyId = Number(row.api_key_id)
  const cost = nanoUsd(row.cost)
  const providerCost = nanoUsdOrNull(row.provider_cost)
  const common = {
    route,
    model,
    provider,
    apiKeyId,
    cost,
    providerCost,
    atMs: Number(row.at_ms),
    ...attributionFrom(row),
  }
  if (images !== null) {
    const tokens = imageTokensFrom(row)
    return {
      kind: 'images',
      ...common,
      images: Number(images),
      ...(hasTokens(tokens) ? { tokens } : {}),
      tariff: imageTariffFrom(content ?? '{}'),
    }
  }
  if (durationMs !== null)
    return {
      kind: 'video',
      ...common,
      durationMs: Number(durationMs),
      tariff: videoTariffFrom(content ?? '{}'),
    }
  return {
    kind: 'text',
    ...common,
    usage: usageFrom(row),
    provenance: provenance ?? 'reported',
    isClamped: row.is_clamped === 1n,
    ...(row.assumed_cached !== null && { assumedCached: Number(row.assumed_cached) }),
    tariff: content === null ? null : tariffFrom(content),
  }
}

export function nanoUsdOrNull(value: bigint | null): NanoUsd | null {
  return value === null ? null : nanoUsd(value)
}
