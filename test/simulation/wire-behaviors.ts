import type { MediaResult } from '../../src/gateway/ports/providers/media-provider.ts'
import type {
  ErrorAnswer,
  JobBehavior,
  PollBehaviorName,
  SubmitBehavior,
} from '../support/simulators/media/behaviors.ts'
import type { Random } from './random.ts'
import type { SubmitFault } from './submit-faults.ts'
import type { UpstreamJob } from './upstream-job.ts'

/** What can happen to one request of a poll. */
export const failedPolls = [
  'reset',
  'silence',
  'html',
  'no_status',
  'backwards',
  'unknown_status',
  'status_401',
  'status_403',
  'status_404',
  'status_429',
  'status_500',
] as const satisfies readonly PollBehaviorName[]

/** What a simulator does with a submit that has this fault. `other` is the id of an earlier job. */
export function submitBehavior(
  fault: SubmitFault | undefined,
  random: Random,
  other: string | undefined,
): SubmitBehavior {
  const accepts = fault === undefined || fault.includes('stored') || fault === 'reply lost'
  return { accepts, answer: answerTo(fault, random, other) }
}

function answerTo(
  fault: SubmitFault | undefined,
  random: Random,
  other: string | undefined,
): SubmitBehavior['answer'] {
  switch (fault) {
    case undefined:
      return 'normal'
    case 'not sent':
    case 'rejected':
      return random.pick<ErrorAnswer>([
        { error: 'invalid' },
        { error: 'safety' },
        { error: 'invalid', status: 409 },
      ])
    case 'rate limited':
      return { error: 'rate_limited', retryAfterS: 7 }
    case 'operator refused':
      return { error: random.pick(['no_credit', 'key_refused']) }
    case 'no id, stored':
    case 'no id':
      return random.pick(['no_id', 'html', 'empty', 'truncated'])
    case 'error':
    case 'error, stored':
    case 'error, stored later':
      return random.pick<ErrorAnswer>([{ error: 'server', status: 500 }, { status: 502 }, { status: 504 }])
    case 'reply lost':
      return 'reset'
    case 'silence, stored':
      return 'nothing'
    case 'id of another job':
    case 'id of another job, stored':
      return other === undefined ? 'no_id' : { idOf: other }
  }
}

/** What an answer says of the job that it is about. */
export function answerOf({ answer }: SubmitBehavior): UpstreamJob['answer'] {
  if (answer === 'normal') return 'its id'
  if (typeof answer === 'object') return 'idOf' in answer ? 'the id of another job' : 'nothing'
  return answer === 'reset' || answer === 'nothing' ? 'nothing' : 'no id'
}

/** How a job goes on at a simulator that is to end as the ledger says. */
export function jobBehavior(
  {
    storedAtMs,
    endsAtMs,
    ending,
    result,
  }: Pick<UpstreamJob, 'storedAtMs' | 'endsAtMs' | 'ending' | 'result'>,
  nowMs: number,
  random: Random,
): JobBehavior {
  return {
    shownAfterMs: storedAtMs - nowMs,
    endsAfterMs: endsAtMs - nowMs,
    ending: ending === 'failed' ? random.pick(['failed', 'filtered']) : 'finished',
    outputs: outputsOf(result),
    reportedMs: result.durationMs ?? null,
  }
}

function outputsOf({ outputs }: MediaResult): NonNullable<JobBehavior['outputs']> {
  return outputs.flatMap(output => {
    if (output.from === 'lost') return []
    return output.from === 'url' ? { url: output.url } : { bytes: output.bytes }
  })
}
