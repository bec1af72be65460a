import type { Database, Statement } from 'bun:sqlite'
import type { Job } from '../../../domain/jobs/job.ts'
import { jobFinishedEvent } from '../../../domain/webhooks/life-events.ts'
import type { WebhookEvents } from './webhook-events.ts'

/**
 * The accounts that are told of each job that ends. An account can have thousands of jobs an hour, so none is unless it
 * asked.
 */
export class JobAlerts {
  readonly #events: WebhookEvents
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: { readonly database: Database; readonly webhookEvents: WebhookEvents }) {
    this.#events = parts.webhookEvents
    this.#sql = statements(parts.database)
  }

  /** Inside a step: switches the events of an account's jobs. Returns false if they stay as they are. */
  change(accountId: number, isOn: boolean): boolean {
    if (isOn === this.#isOn(accountId)) return false
    if (isOn) this.#sql.add.run(accountId)
    else this.#sql.remove.run(accountId)
    return true
  }

  /** Inside the step that ends a job: records its event, if its account asked for it. */
  tell(job: Job, atMs: number): void {
    if (this.#isOn(job.accountId)) this.#events.emit(jobFinishedEvent(job, atMs))
  }

  #isOn(accountId: number): boolean {
    return this.#sql.find.get(accountId) !== null
  }
}

function statements(database: Database) {
  return {
    find: database.prepare<unknown, [number]>('SELECT 1 FROM job_alerts WHERE account_id = ?'),
    add: database.prepare('INSERT INTO job_alerts (account_id) VALUES (?)'),
    remove: database.prepare('DELETE FROM job_alerts WHERE account_id = ?'),
  } satisfies Record<string, Statement>
}
