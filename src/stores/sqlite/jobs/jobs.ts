import type { Database } from 'bun:sqlite'
import type { Jobs } from '../../../gateway/ports/jobs.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { HoldOwner } from '../hold-owner.ts'
import type { LedgerSteps } from '../ledger-steps.ts'
import type { Tables } from '../tables.ts'
import { JobKeys } from './job-keys.ts'
import { JobLists } from './job-lists.ts'
import { jobFrom } from './job-rows.ts'
import { JobSteps } from './job-steps.ts'
import { JobTable } from './job-table.ts'

/** `Jobs` of one node on SQLite: every step is one transaction, shared with the other steps of its commit. */
export function openJobs(parts: {
  readonly database: Database
  /** The name of the node. */
  readonly node: string
  readonly groupCommit: GroupCommit
  readonly steps: LedgerSteps
  readonly tables: Tables
  readonly owner: HoldOwner
}): Jobs {
  const { database, node, groupCommit } = parts
  const { media: holds, booksOfAccounts, journal } = parts.steps
  const keys = new JobKeys(database)
  const table = new JobTable(parts)
  const steps = new JobSteps({ table, keys, holds, booksOfAccounts, journal })
  const lists = JobLists.open(database, node)
  return {
    create: job => groupCommit.run(() => steps.create(job, parts.owner)),
    beginSubmit: (id, atMs, inputs) => groupCommit.run(() => steps.beginSubmit(id, atMs, inputs)),
    accept: (id, to) => groupCommit.run(() => steps.accept(id, to)),
    loseSubmit: (id, to) => groupCommit.run(() => steps.loseSubmit(id, to)),
    complete: (id, result) => groupCommit.run(() => steps.complete(id, result)),
    fail: (id, failure) => groupCommit.run(() => steps.fail(id, failure)),
    notePoll: (id, poll) => groupCommit.run(() => table.notePoll(table.row(id), poll)),
    bookLateCompletion: (id, late) => groupCommit.run(() => steps.bookLateCompletion(id, late)),
    endWatch: (id, end) => groupCommit.run(() => steps.endWatch(id, end)),
    archive: (id, atMs) => groupCommit.run(() => steps.archive(id, atMs)),
    async findByKey(accountId, key, atMs) {
      const known = keys.find(accountId, key, atMs)
      return known && { fingerprint: known.fingerprint, job: jobFrom(table.rowAt(known.job)) }
    },
    async find(id) {
      const row = table.find(id)
      return row === undefined ? undefined : jobFrom(row)
    },
    async history(id) {
      return table.events(table.row(id))
    },
    async list(page) {
      return lists.list(page)
    },
    async openCounts() {
      return lists.openCounts()
    },
    async due(work, page) {
      return lists.due(work, page)
    },
  }
}
