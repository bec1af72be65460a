import type { Job } from '../../../domain/jobs/job.ts'
import { jobFinishedEvent } from '../../../domain/webhooks/life-events.ts'
import { first, type Step } from '../steps.ts'
import type { Events } from './events.ts'

/**
 * The accounts that are told of each job that ends. An account can have thousands of jobs an hour, so none is unless it
 * asked.
 */
export class JobAlerts {
  readonly #events: Events

  constructor(events: Events) {
    this.#events = events
  }

  /** Switches the events of an account's jobs. Returns false if they stay as they are. */
  *change(accountId: number, isOn: boolean): Step<boolean> {
    const changed = isOn
      ? yield* first(
          'INSERT INTO job_alerts (account_id) VALUES (?) ON CONFLICT (account_id) DO NOTHING RETURNING account_id',
          accountId,
        )
      : yield* first('DELETE FROM job_alerts WHERE account_id = ? RETURNING account_id', accountId)
    return changed !== undefined
  }

  /** Inside the step that ends a job: records its event, if its account asked for it. */
  *tell(job: Job, atMs: number): Step<void> {
    const asked = yield* first('SELECT account_id FROM job_alerts WHERE account_id = ?', job.accountId)
    if (asked !== undefined) yield* this.#events.emit(jobFinishedEvent(job, atMs))
  }
}
