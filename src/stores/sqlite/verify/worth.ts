import type { NanoUsd } from '../../../domain/money.ts'
import { chargeForImages, chargeForTokens, chargeForVideo } from '../../../domain/pricing/charge.ts'
import { imageTariffFrom, tariffFrom, videoTariffFrom } from '../tariffs.ts'
import { usageFrom, type UsageColumns } from '../usage-columns.ts'

type WorthColumns = UsageColumns & { readonly images?: bigint | null; readonly duration_ms?: bigint | null }

/** What a row is worth by the content of its tariff; null for a content that no prices can be read of. */
export function worthOf(row: WorthColumns, content: string): NanoUsd | null {
  const { images = null, duration_ms: durationMs = null } = row
  try {
    if (images !== null) return chargeForImages(Number(images), imageTariffFrom(content))
    if (durationMs !== null) return chargeForVideo(Number(durationMs), videoTariffFrom(content))
    return chargeForTokens(usageFrom(row), tariffFrom(content))
  } catch {
    return null
  }
}
