import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { RefundLine, UsageLine, UsagePage } from '../../ports/ledger/ledger-reports.ts'

/** A charge, or a refund of one. */
export type UsageEntry = { readonly cursor: string } & (
  | { readonly charge: UsageLine; readonly refund?: undefined }
  | { readonly refund: RefundLine; readonly charge?: undefined }
)

/** Between the places of a page in the list of charges and in the list of refunds. */
const BETWEEN = '.'

/**
 * The charges and the refunds of one account, or of all accounts if it is undefined, newest first. A refund is where it
 * was made, not where its charge is, so that a list of a time that has ended never changes.
 *
 * The cursor of an entry is the place in both lists. A cursor of an earlier version has no place in the list of
 * refunds: that list then begins with the newest one.
 */
export async function listUsage(
  accountId: number | undefined,
  { before = '', ...page }: UsagePage,
  ledger: Pick<Ledger, 'usage' | 'refunds'>,
): Promise<readonly UsageEntry[]> {
  let [afterCharge = '', afterRefund = ''] = before.split(BETWEEN, 2)
  const pageAfter = (place: string) => ({
    ...page,
    ...(place === '' ? {} : { before: place }),
  })
  const charges = await ledger.usage(accountId, pageAfter(afterCharge))
  const refunds = await ledger.refunds(accountId, pageAfter(afterRefund))
  const entries: UsageEntry[] = []
  let [nextCharge, nextRefund] = [0, 0]
  while (entries.length < page.limit) {
    const [charge, refund] = [charges[nextCharge], refunds[nextRefund]]
    if (refund !== undefined && (charge === undefined || refund.atMs >= charge.atMs)) {
      nextRefund += 1
      afterRefund = refund.cursor
      entries.push({ refund, cursor: afterCharge + BETWEEN + afterRefund })
    } else if (charge !== undefined) {
      nextCharge += 1
      afterCharge = charge.cursor
      entries.push({ charge, cursor: afterCharge + BETWEEN + afterRefund })
    } else break
  }
  return entries
}
