import type { Mutant } from '../mutant.ts'

const SIMULATION = 'test/simulation/simulation.test.ts'
const STORE = 'src/stores/sqlite/jobs/jobs.test.ts'
const STEPS = 'src/stores/sqlite/jobs/job-steps.ts'
const TABLE = 'src/stores/sqlite/jobs/job-table.ts'

/** Faults in the states, submits and settlement of media jobs. */
export const jobMutants: readonly Mutant[] = [
  {
    name: 'a job is completed whatever its state is (compare-and-set removed)',
    file: TABLE,
    text: "if (!mayFollow(row.state, 'completed')) return false",
    replacement: '',
    tests: [STORE, SIMULATION],
  },
  {
    name: 'a failure is recorded whatever the state of the job is',
    file: TABLE,
    text: "if (!mayFollow(row.state, 'failed')) return false",
    replacement: '',
    tests: [STORE],
  },
  {
    name: 'a job is completed in one transaction and charged in the next (transaction split)',
    file: 'src/stores/sqlite/jobs/jobs.ts',
    text: 'complete: (id, result) => groupCommit.run(() => steps.complete(id, result)),',
    replacement: `complete: async (id, result) => {
      const { capture } = holds
      let later = () => {}
      holds.capture = (hold, charge) => ((later = () => void capture.call(holds, hold, charge)), { cost: charge.cost, shortfall: 0n as never })
      const ended = await groupCommit.run(() => steps.complete(id, result)).finally(() => (holds.capture = capture))
      await groupCommit.run(later)
      return ended
    },`,
    tests: [STORE, SIMULATION],
  },
  {
    name: 'a job is charged at the price of today (price re-read at settlement)',
    file: 'src/gateway/media/settle-job.ts',
    text: 'const price = priceResult(job, {',
    replacement: `const pricing = catalog.current().models.get(job.model)?.pricing as never
  const quote = { ...job.quote, tariff: pricing ?? job.quote.tariff } as Job['quote']
  const price = priceResult({ ...job, quote }, {`,
    tests: [SIMULATION],
  },
  {
    name: 'the begin of a submit is not recorded (submit mark removed)',
    file: TABLE,
    text: 'const BEGIN_SUBMIT = `UPDATE jobs SET submitted_at_ms = ?',
    replacement: 'const BEGIN_SUBMIT = `UPDATE jobs SET submitted_at_ms = nullif(?, ?1)',
    tests: [STORE, SIMULATION],
  },
  {
    name: 'a submit may begin twice',
    file: TABLE,
    text: "WHERE row_id = ? AND state = 'queued' AND submitted_at_ms IS NULL",
    replacement: "WHERE row_id = ? AND state = 'queued'",
    tests: [STORE],
  },
  {
    name: 'a job is submitted although its submit was marked before',
    file: 'src/gateway/media/submit-job.ts',
    text: 'if (!begun.changed) return begun.job',
    replacement: '',
    tests: ['src/gateway/media/submit-job.test.ts'],
  },
  {
    name: 'a step back from processing to queued is allowed',
    file: 'src/domain/jobs/job.ts',
    text: "processing: ['completed', 'failed'],",
    replacement: "processing: ['queued', 'completed', 'failed'],",
    tests: ['src/domain/jobs/job.test.ts'],
  },
  {
    name: 'two jobs may have one upstream id',
    file: STEPS,
    text: 'if (table.findByUpstream(row.provider, to.upstreamId) !== undefined)',
    replacement: "if (to.upstreamId === '')",
    tests: [STORE],
  },
  {
    name: 'a failed job keeps its money held',
    file: STEPS,
    text: '      holds.release(holdOf(jobFrom(row)), failure.atMs)\n',
    replacement: '',
    tests: [STORE, SIMULATION],
  },
  {
    name: 'a late completion is booked more than once',
    file: STEPS,
    text: 'if (!table.endWatch(row, { detail: COMPLETED_LATE, atMs })) return false',
    replacement: 'table.endWatch(row, { detail: COMPLETED_LATE, atMs })',
    tests: [STORE],
  },
  {
    name: 'an idempotency key is accepted for another job',
    file: STEPS,
    text: "if (known.fingerprint !== idempotency.fingerprint) return { outcome: 'key_reused' }",
    replacement: '',
    tests: [STORE],
  },
  {
    name: 'a found job keeps the deadline of its unknown submit',
    file: TABLE,
    text: 'next_poll_at_ms = ?, deadline_at_ms = job_deadline_at_ms, problem = NULL',
    replacement: 'next_poll_at_ms = ?, problem = NULL',
    tests: [STORE],
  },
  {
    name: 'a note brings the next poll of a job forward',
    file: TABLE,
    text: 'next_poll_at_ms = max(next_poll_at_ms, ?)',
    replacement: 'next_poll_at_ms = ?',
    tests: [STORE],
  },
  {
    name: 'open jobs are overdue before their deadline',
    file: 'src/stores/sqlite/jobs/job-lists.ts',
    text: 'overdue: `${OPEN} AND deadline_at_ms <= $at`',
    replacement: 'overdue: `${OPEN} AND created_at_ms <= $at`',
    tests: [STORE, SIMULATION],
  },
  {
    name: 'a job is released although it was found meanwhile',
    file: STEPS,
    text: 'if (deadlineAtMs !== undefined && deadlineAtMs !== jobFrom(row).deadlineAtMs) return false',
    replacement: 'if (deadlineAtMs === -1) return false',
    tests: [STORE],
  },
  {
    name: 'a submit is given up although it began meanwhile',
    file: STEPS,
    text: 'if (submittedAtMs !== undefined && submittedAtMs !== jobFrom(row).submittedAtMs) return false',
    replacement: 'if (submittedAtMs === -1) return false',
    tests: [STORE],
  },
  {
    name: 'an unknown submit is released at once',
    file: 'src/gateway/media/submit-job.ts',
    text: 'const deadlineAtMs = atMs + ports.settings.unknownSubmitTtlMs',
    replacement: 'const deadlineAtMs = atMs',
    tests: ['test/scenarios/images-unknown.test.ts'],
  },
  {
    name: 'a submit that a crash cut off is released at once',
    file: 'src/reconciler/lose-stale-submits.ts',
    text: 'isBegun ? nowMs + ports.unknownSubmitTtlMs : nowMs',
    replacement: 'isBegun ? nowMs : nowMs',
    tests: ['test/scenarios/videos-killed.test.ts'],
  },
  {
    name: 'a released job that was submitted is not watched',
    file: 'src/domain/jobs/watch.ts',
    text: "new Set(['submit_unconfirmed', 'overdue', 'no_job_id'])",
    replacement: "new Set(['submit_unconfirmed', 'no_job_id'])",
    tests: [STORE],
  },
  {
    name: 'a result that comes after the release is not booked',
    file: 'src/gateway/media/settle-job.ts',
    text: 'if (wasReleased) await bookLateResult(job, result, ports)',
    replacement: '',
    tests: ['test/scenarios/images-unknown.test.ts'],
  },
  {
    name: 'a result without outputs completes its job',
    file: 'src/gateway/media/settle-job.ts',
    text: 'if (result.outputs.length === 0)',
    replacement: 'if (result.outputs.length < 0)',
    tests: ['test/scenarios/videos-settlement.test.ts'],
  },
  {
    name: 'a result that cannot be downloaded now is lost',
    file: 'src/gateway/media/store-outputs.ts',
    text: "outcome: isPermanent ? 'lost' : 'unavailable'",
    replacement: "outcome: isPermanent ? 'lost' : 'lost'",
    tests: [SIMULATION],
  },
  {
    name: 'an error page is stored and charged as a result',
    file: 'src/gateway/media/store-outputs.ts',
    text: 'if (mediaType !== undefined) return store(stream',
    replacement: 'if (mediaType !== null) return store(stream',
    tests: ['test/scenarios/jobs-fetching.test.ts'],
  },
  {
    name: 'more outputs are stored than were asked for',
    file: 'src/gateway/media/store-outputs.ts',
    text: 'outputs.slice(0, job.request.count).entries()',
    replacement: 'outputs.entries()',
    tests: [SIMULATION],
  },
  {
    name: 'images that the provider did not make are charged',
    file: 'src/gateway/media/price-result.ts',
    text: 'Math.min(result.outputs.length, request.count)',
    replacement: 'request.count',
    tests: [SIMULATION],
  },
  {
    name: 'a clip is charged beyond what was held',
    file: 'src/gateway/media/price-result.ts',
    text: 'Math.min(durationMs, quote.heldMs)',
    replacement: 'durationMs',
    tests: ['test/scenarios/videos-settlement.test.ts'],
  },
  {
    name: "a provider's wrong duration counts before the clip's own header",
    file: 'src/gateway/media/price-result.ts',
    text: '> DURATION_SLACK_MS ? clipMs : durationMs',
    replacement: '> DURATION_SLACK_MS ? durationMs : durationMs',
    tests: ['test/scenarios/videos-settlement.test.ts'],
  },
  {
    name: 'a job can be read by another account',
    file: 'src/gateway/media/read-job.ts',
    text: 'job.accountId !== accountId || ',
    replacement: '',
    tests: ['test/scenarios/videos.test.ts'],
  },
  {
    name: 'inputs are removed while their job runs',
    file: 'src/gateway/media/remove-inputs.ts',
    text: 'if (!isFinal(job.state)) return',
    replacement: '',
    tests: [SIMULATION],
  },
  {
    name: 'files of jobs are removed before the jobs are recorded',
    file: 'src/reconciler/sweep-blobs.ts',
    text: 'const olderThanMs = nowMs - ORPHAN_AFTER_MS',
    replacement: 'const olderThanMs = nowMs',
    tests: ['src/reconciler/sweep-blobs.test.ts'],
  },
  {
    name: 'outputs of running jobs are removed as orphans',
    file: 'src/reconciler/sweep-blobs.ts',
    text: "if (!isFinal(job.state)) return 'live'",
    replacement: '',
    tests: ['src/reconciler/sweep-blobs.test.ts'],
  },
  {
    name: 'kling: an answer about another job is taken for the job',
    file: 'src/providers/kling/kling.ts',
    text: 'externalIdOf(reply) !== job.jobId',
    replacement: '(externalIdOf(reply) ?? job.jobId) !== job.jobId',
    tests: ['src/providers/kling/kling.test.ts'],
  },
  {
    name: "kling: a server's trouble in a success counts as a rejection",
    file: 'src/providers/kling/wire.ts',
    text: 'if (status >= 500 || (isSuccess(answer) && mayExist))',
    replacement: 'if (status >= 500)',
    tests: ['src/providers/kling/wire.test.ts'],
  },
  {
    name: 'kling: a job with a code that is not documented is given up',
    file: 'src/providers/kling/wire.ts',
    text: " || (trouble === 'unlisted' && taskId !== undefined)",
    replacement: '',
    tests: ['src/providers/kling/wire.test.ts', 'src/providers/kling/kling.test.ts'],
  },
  {
    name: 'veo: the key goes to any host that a result is linked to',
    file: 'src/providers/veo/wire.ts',
    text: 'if (url === null || url.origin !== own.origin) return output',
    replacement: 'if (url === null) return output',
    tests: ['src/providers/veo/wire.test.ts'],
  },
  {
    name: 'minimax: the empty account of the operator is shown to the client',
    file: 'src/providers/minimax/envelope.ts',
    text: "1008: 'operator'",
    replacement: "1008: 'invalid'",
    tests: ['src/providers/minimax/wire.test.ts'],
  },
  {
    name: 'seedance: a client sets the length of a clip in the prompt',
    file: 'src/providers/seedance/submit-body.ts',
    text: "call.prompt.replace(COMMAND, '').trim()",
    replacement: 'call.prompt',
    tests: ['src/providers/seedance/submit-body.test.ts'],
  },
  {
    name: 'geminigen: an unknown status ends the job',
    file: 'src/providers/geminigen/wire.ts',
    text: "if (state === 'failed') return failureOf(item)",
    replacement: "if (state !== 'running') return failureOf(item)",
    tests: ['src/providers/geminigen/wire.test.ts'],
  },
]
