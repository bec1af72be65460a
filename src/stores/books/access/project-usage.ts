import type { Project } from '../../../domain/accounts/project.ts'
import type { Projects, ProjectUsage, UsageGrain } from '../../../gateway/ports/access/projects.ts'
import { all, type StepRunner, type Step } from '../steps.ts'
import { addSums, ALL_SUMS, chargeSumsFrom, type UsageSumsRow } from '../usage/usage-days.ts'
import { notAddedUp } from './limit-changes.ts'

/** How a store reads `usage_days` for a report. */
export interface UsageSource {
  /** Whether it has all charges with their costs. */
  isComplete(): Step<boolean>

  /** Lets other work of the process run. */
  pause(): Promise<unknown>
}

type GroupRow = UsageSumsRow & { group: bigint | string }

const groups: Readonly<Record<UsageGrain, string>> = {
  day: 'day',
  model: 'model',
  key: '(SELECT public_id FROM api_keys WHERE id = api_key_id)',
}

/**
 * Adds up the charges of the keys of a project. Pauses after each day, because a day can have thousands of rows. Throws
 * `unavailable` if an upgrade still adds up earlier charges.
 */
export async function readProjectUsage(
  { stepRunner, usageSource }: { readonly stepRunner: StepRunner; readonly usageSource: UsageSource },
  { accountId, id }: Project,
  { by, firstDay, lastDay }: Parameters<Projects['usage']>[1],
): Promise<readonly ProjectUsage[]> {
  if (!(await stepRunner.read(() => usageSource.isComplete())))
    throw notAddedUp('The usage of a project is not known yet')
  const sums = new Map<bigint | string, ProjectUsage>()
  for (let day = firstDay; day <= lastDay; day += 1) {
    const rows = await stepRunner.read(() =>
      all<GroupRow>(
        `SELECT ${groups[by]} AS "group", ${ALL_SUMS} FROM usage_days
          WHERE day = ? AND account_id = ? AND api_key_id IN (SELECT id FROM api_keys WHERE project_id = ?)
          GROUP BY 1`,
        day,
        accountId,
        id,
      ),
    )
    for (const row of rows) {
      const usage = usageOf(row)
      const before = sums.get(row.group)
      sums.set(row.group, before === undefined ? usage : sumOf(before, usage))
    }
    await usageSource.pause()
  }
  return [...sums.values()].toSorted((left, right) => (left.group < right.group ? -1 : 1))
}

function usageOf(row: GroupRow): ProjectUsage {
  const group = typeof row.group === 'bigint' ? Number(row.group) : row.group
  return { group, ...chargeSumsFrom(row) }
}

function sumOf(left: ProjectUsage, right: ProjectUsage): ProjectUsage {
  return { group: left.group, ...addSums(left, right) }
}
