import { isFinal, mayFollow, type Job } from '../../../src/domain/jobs/job.ts'
import { publicId, priceOf, type World } from '../world.ts'
import { isSame } from './is-same.ts'
import { lossOf, type EndedJob } from './ended-jobs.ts'

/**
 * Each job has ended once, in an order of states that is allowed, and was settled once at the price of its creation.
 */
export function checkJobs(world: World, ended: ReadonlyMap<string, EndedJob>): void {
  for (const one of ended.values()) {
    const problems = [...stateProblems(one), ...moneyProblems(one), ...quoteProblems(one.job, world)]
    for (const problem of problems) world.violated(`${publicId(one.job)} ${problem}`)
  }
}

function* stateProblems({ job, history }: EndedJob): Generator<string> {
  if (!isFinal(job.state)) yield `is ${job.state} at the end`
  if (history[0]?.state !== 'queued') yield `began as ${history[0]?.state}`
  for (const [index, { state }] of history.slice(1).entries()) {
    const before = history[index]?.state ?? 'queued'
    if (state !== before && !mayFollow(before, state)) yield `went from ${before} to ${state}`
  }
  const ends = history.filter(
    ({ state, detail }) => isFinal(state) && (detail === null || detail === job.failure?.reason),
  )
  if (ends.length !== 1) yield `ended ${ends.length} times`
  if (job.outputs.length > job.request.count)
    yield `has ${job.outputs.length} outputs of ${job.request.count}`
  if (job.state === 'completed' && job.outputs.length === 0) yield 'is completed, and has no output'
  const reason = job.failure?.reason
  if ((reason === 'overdue' || reason === 'submit_unconfirmed') && job.changedAtMs < job.deadlineAtMs)
    yield `was released as ${reason} ${job.deadlineAtMs - job.changedAtMs} ms before its deadline`
}

function* moneyProblems(one: EndedJob): Generator<string> {
  const { job, operations } = one
  const kinds = operations.map(({ kind }) => kind)
  const isLost = lossOf(one) !== undefined
  const end = job.state === 'completed' ? 'capture' : 'release'
  const expected = ['hold', end, ...(isLost ? ['loss'] : [])]
  if (!isSame(kinds, expected)) yield `has the operations ${kinds.join(', ')}, not ${expected.join(', ')}`
  if (isLost && job.state !== 'failed') yield `is ${job.state}, and a loss was booked for it`
  if (isLost !== (job.loss !== null)) yield `has a loss of ${job.loss}`
  const paid = -operations.reduce((sum, { amount }) => sum + amount, 0n)
  if (paid !== (job.cost ?? 0n)) yield `took ${paid} from its account, and costs ${job.cost}`
  if (paid > job.held) yield `took ${paid}, and held ${job.held}`
}

function* quoteProblems(job: Job, { created, prices }: World): Generator<string> {
  const first = created.get(publicId(job))
  if (first === undefined) {
    yield 'was created by no request'
    return
  }
  if (!isSame(job.quote, first.quote)) yield 'has another price than it was created with'
  if (!prices.get(job.model)?.has(priceOf(first.quote)))
    yield `has a price of ${priceOf(first.quote)}, which was never set`
  const price = priceOf(first.quote)
  const held =
    first.quote.kind === 'images'
      ? price * BigInt(first.request.count)
      : (price * BigInt(first.quote.heldMs) + 999n) / 1000n
  if (job.held !== held) yield `holds ${job.held} instead of ${held}`
}
