import type { Database, Statement } from 'bun:sqlite'
import type { Project } from '../../domain/accounts/project.ts'
import type { Projects, ProjectUsage, UsageGrain } from '../../gateway/ports/projects.ts'
import { addSums, ALL_SUMS, chargeSumsFrom, type UsageSumsRow } from '../books/usage-days.ts'
import { notAddedUp } from './limits/limits.ts'
import { areCostsAdded, isUsageRebuilt } from './usage-days.ts'

type GroupRow = UsageSumsRow & { group: bigint | string }

/** Adds up the charges of the keys of projects, from the table `usage_days`. */
export class ProjectUsageReader {
  readonly #database: Database
  readonly #select: Readonly<Record<UsageGrain, Statement<GroupRow, [number, number, number]>>>

  constructor(database: Database) {
    this.#database = database
    const by = (group: string) =>
      database.prepare<GroupRow, [number, number, number]>(
        `SELECT ${group} AS "group", ${ALL_SUMS} FROM usage_days
          WHERE day = ? AND account_id = ? AND api_key_id IN (SELECT id FROM api_keys WHERE project_id = ?)
          GROUP BY "group"`,
      )
    this.#select = {
      day: by('day'),
      model: by('model'),
      key: by('(SELECT public_id FROM api_keys WHERE id = api_key_id)'),
    }
  }

  /** Pauses after each day, because a day can have thousands of rows. */
  async read(
    { accountId, id }: Project,
    { by, firstDay, lastDay }: Parameters<Projects['usage']>[1],
  ): Promise<readonly ProjectUsage[]> {
    if (!isUsageRebuilt(this.#database) || !areCostsAdded(this.#database))
      throw notAddedUp('The usage of a project is not known yet')
    const groups = new Map<bigint | string, ProjectUsage>()
    for (let day = firstDay; day <= lastDay; day += 1) {
      for (const row of this.#select[by].all(day, accountId, id)) {
        const usage = usageOf(row)
        const before = groups.get(row.group)
        groups.set(row.group, before === undefined ? usage : sumOf(before, usage))
      }
      await new Promise(setImmediate)
    }
    return [...groups.values()].toSorted((left, right) => (left.group < right.group ? -1 : 1))
  }
}

function usageOf(row: GroupRow): ProjectUsage {
  const group = typeof row.group === 'bigint' ? Number(row.group) : row.group
  return { group, ...chargeSumsFrom(row) }
}

function sumOf(left: ProjectUsage, right: ProjectUsage): ProjectUsage {
  return { group: left.group, ...addSums(left, right) }
}
