import type { LedgerReports } from '../../../gateway/ports/ledger/ledger-reports.ts'
import type { UsageSource } from '../access/project-usage.ts'
import type { StepRunner } from '../steps.ts'
import { GroupSums } from './usage-groups.ts'
import type { ChargePlaces, ReadSchedule } from './charge-chain.ts'
import { usageOfDay } from './day-usage.ts'
import { lossesOf, type FailedJobs } from './loss-list.ts'
import { RefundList } from './refund-list.ts'
import { StatementList } from './statement.ts'
import { UsageList } from './usage-list.ts'

/** The reports of the ledger, for any store. */
export function createLedgerReports(parts: {
  readonly stepRunner: StepRunner
  readonly chargePlaces: ChargePlaces
  readonly schedule: ReadSchedule
  readonly usageSource: UsageSource
  readonly failedJobs: FailedJobs
}): LedgerReports {
  const { stepRunner, schedule, usageSource, failedJobs } = parts
  const refundList = new RefundList(parts)
  const usageList = new UsageList(parts)
  const statementList = new StatementList(parts)
  return {
    statement: (accountId, page) => statementList.page(accountId, page),
    usage: async (accountId, page) =>
      accountId === undefined ? usageList.ofAll(page) : usageList.ofAccount(accountId, page),
    // A report reads many pages and days, with other work between them.
    async losses(page) {
      await schedule.next()
      return stepRunner.read(() => lossesOf(page, failedJobs))
    },
    async usageOfDay(day) {
      await schedule.next()
      return stepRunner.read(() => usageOfDay(usageSource, day))
    },
    refunds: (accountId, page) => refundList.list(accountId, page),
    usageTotals: async (accountId, between) => ({
      ...(await usageList.sums(accountId, between)),
      refunded: await refundList.sum(accountId, between),
    }),
    async usageGroups(accountId, asked) {
      const sums = new GroupSums(asked)
      await usageList.addTo(sums, accountId, asked)
      await refundList.addTo(sums, accountId, asked)
      return sums.page()
    },
    findCharge: id => usageList.find(id),
  }
}
