import type { Mutant } from '../mutant.ts'

const STORE = 'src/stores/books/jobs/jobs.test.ts'
const OBSERVED = 'test/scenarios/media/jobs-observed.test.ts'
const FETCHING = 'test/scenarios/media/jobs-fetching.test.ts'
const KILLED = 'test/scenarios/media/videos-killed.test.ts'

/**
 * Faults in what happens to jobs outside of requests: losses, fetches, passes, starts and stops, and their log and
 * metrics.
 */
export const reconcilerMutants: readonly Mutant[] = [
  {
    name: 'the price of a lost result is not booked',
    file: 'src/stores/books/jobs/decide-job.ts',
    text: 'loss === undefined ? undefined : lossOf(job, loss, atMs)',
    replacement: 'undefined as ReturnType<typeof lossOf> | undefined',
    tests: [STORE],
  },
  {
    name: 'a submit that may still be running is lost',
    file: 'src/reconciler/reconcile-jobs.ts',
    text: 'SUBMIT_TIMEOUT_MS + 60_000',
    replacement: 'SUBMIT_TIMEOUT_MS - 60_000',
    tests: ['src/reconciler/reconcile-jobs.test.ts'],
  },
  {
    name: 'a job whose submit was answered without an id is not watched',
    file: 'src/domain/jobs/watch.ts',
    text: "new Set(['submit_unconfirmed', 'overdue', 'no_job_id'])",
    replacement: "new Set(['submit_unconfirmed', 'overdue'])",
    tests: [STORE],
  },
  {
    name: 'a failure of a job is neither logged nor counted',
    file: 'src/gateway/media/observe-jobs.ts',
    text: 'fail: (id, failure) => seen(jobs.fail(id, failure)),',
    replacement: '',
    tests: [OBSERVED],
  },
  {
    name: 'a step that changed nothing is logged as a change',
    file: 'src/gateway/media/observe-jobs.ts',
    text: 'if (changed.changed) reportChange(changed.job)',
    replacement: 'reportChange(changed.job)',
    tests: ['src/gateway/media/observe-jobs.test.ts'],
  },
  {
    name: 'the cost of a job is counted by each request that waits for it',
    file: 'src/telemetry/request-metrics.ts',
    text: 'if (cost !== undefined && record.jobId === undefined)',
    replacement: 'if (cost !== undefined)',
    tests: [OBSERVED],
  },
  {
    name: 'nothing keeps other nodes from a job whose result is being fetched',
    file: 'src/gateway/media/settle/fetch-result.ts',
    text: '? await postponePolls(job, ports) : () => undefined',
    replacement: '? () => undefined : () => undefined',
    tests: [FETCHING],
  },
  {
    name: 'any number of results is fetched at a time',
    file: 'src/gateway/media/settle/fetch-result.ts',
    text: 'hasLinks ? ports.resultFetches.run(store) : store()',
    replacement: 'store()',
    tests: [FETCHING],
  },
  {
    name: 'a pass waits for the fetch of each result',
    file: 'src/gateway/media/work/job-runner.ts',
    text: '  await answered\n',
    replacement: '  await done\n',
    tests: [FETCHING],
  },
  {
    name: 'a provider that does not answer keeps the jobs of others waiting',
    file: 'src/reconciler/sweep.ts',
    text: 'await within(SLOW_MS, answered, ends)',
    replacement: 'await answered',
    tests: [FETCHING],
  },
  {
    name: 'the start leaves the queued jobs of its last process for later',
    file: 'src/reconciler/reconcile-jobs.ts',
    text: "const left = await sweepJobs(ports, { work: 'left_queued', atMs: nowMs }, lose)",
    replacement: 'const left = { changed: 0 }',
    tests: [KILLED],
  },
  {
    name: 'a stop does not wait for submits',
    file: 'src/app.ts',
    text: 'server.drain().then(() => runner.submissionsEnded())',
    replacement: 'server.drain()',
    tests: [KILLED],
  },
  {
    name: 'a stop waits for the results that a pass fetches',
    file: 'src/app.ts',
    text: '  media.stop()\n',
    replacement: '',
    tests: [KILLED],
  },
]
