import type { NanoUsd } from '../../../domain/money.ts'
import { chargeForImages, chargeForTokens, chargeForVideo } from '../../../domain/pricing/charge.ts'
import { imageTariffFrom, tariffFrom, videoTariffFrom } from '../../books/tariffs.ts'
import { imageTokensFrom, usageFrom, type UsageColumns } from '../../books/usage-columns.ts'

/** The columns of a charge that have a price. An attempt has only those of a usage. */
type PricedColumns = UsageColumns & {
  readonly images?: bigint | null
  readonly duration_ms?: bigint | null
}

/** The price of a row at a stored tariff; null if the tariff cannot be read. */
export function priceOfRow(row: PricedColumns, tariffContent: string): NanoUsd | null {
  const { images = null, duration_ms: durationMs = null } = row
  try {
    if (images !== null)
      return chargeForImages(Number(images), imageTariffFrom(tariffContent), imageTokensFrom(row))
    if (durationMs !== null) return chargeForVideo(Number(durationMs), videoTariffFrom(tariffContent))
    return chargeForTokens(usageFrom(row), tariffFrom(tariffContent))
  } catch {
    return null
  }
}
