import { idNumber } from '../../../src/domain/ids.ts'
import type { Job } from '../../../src/domain/jobs/job.ts'
import type { JobEvent } from '../../../src/gateway/ports/media/jobs.ts'
import type { StatementLine } from '../../../src/gateway/ports/ledger/ledger-reports.ts'
import type { StoreNode } from '../../../src/gateway/ports/nodes/store-node.ts'
import { publicId } from '../world.ts'

/** A job at the end of a run, with everything that the store has of it. */
export type EndedJob = {
  readonly job: Job
  readonly history: readonly JobEvent[]
  /** Its movements of money, oldest first. */
  readonly operations: readonly StatementLine[]
}

const PAGE = 500

/** All jobs of a store, by their public ids. */
export async function endedJobs({ jobs, ledger }: StoreNode): Promise<ReadonlyMap<string, EndedJob>> {
  const { jobs: all } = await jobs.list({ limit: PAGE })
  const accountIds = [...new Set(all.map(job => job.accountId))]
  const statements = await Promise.all(accountIds.map(id => ledger.statement(id, { limit: PAGE })))
  const operations = Map.groupBy(statements.flat().toReversed(), ({ id }) => idNumber(id))
  const ended = new Map<string, EndedJob>()
  for (const job of all) {
    const history = await jobs.history(job.id)
    ended.set(publicId(job), { job, history, operations: operations.get(idNumber(job.id)) ?? [] })
  }
  return ended
}

/** The late completion that was booked for a job; undefined where none was. */
export function lossOf({ operations }: EndedJob): StatementLine | undefined {
  return operations.find(({ kind }) => kind === 'loss')
}
