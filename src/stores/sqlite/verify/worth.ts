import type { NanoUsd } from '../../../domain/money.ts'
import { chargeForTokens } from '../../../domain/pricing/charge.ts'
import { tariffFrom } from '../tariffs.ts'
import { usageFrom, type UsageColumns } from '../usage-columns.ts'

/** What a row's usage is worth by the content of its tariff; null for a content that no prices can be read of. */
export function worthOf(row: UsageColumns, content: string): NanoUsd | null {
  try {
    return chargeForTokens(usageFrom(row), tariffFrom(content))
  } catch {
    return null
  }
}
