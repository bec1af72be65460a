import type { Mutant } from '../mutant.ts'

const SIMULATION = 'test/simulation/simulation.test.ts'
const STORE = 'src/stores/sqlite/jobs/jobs.test.ts'
const TABLE = 'src/stores/sqlite/jobs/job-table.ts'

/** Faults in the states, submits and settlement of media jobs. */
export const jobMutants: readonly Mutant[] = [
  {
    name: 'a failure is recorded whatever the state of the job is (compare-and-set removed)',
    file: TABLE,
    text: "if (!mayFollow(row.state, 'failed')) return false",
    replacement: '',
    tests: [STORE, SIMULATION],
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
]
