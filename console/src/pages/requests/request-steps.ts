/** The steps of a request in their order: from its arrival, over the calls of providers, to its charge and its refunds. */
import { milliseconds, money } from '../../parts/format.ts'
import type { TimelineStep } from '../../parts/timeline.tsx'
import { jobsTexts } from '../jobs/texts.ts'
import { requestsTexts } from './texts.ts'
import { jobTones } from '../jobs/jobs.tsx'
import type { RequestPage } from './request.tsx'

const words = requestsTexts.steps
const jobWords = jobsTexts

/** Steps of the same instant keep the order in which they are made here. */
export function stepsOf(page: RequestPage): readonly TimelineStep[] {
  const begun = page.request?.created_at
  const steps = [
    ...arrival(page),
    ...holdPlaced(page),
    ...calls(page),
    ...jobSteps(page),
    ...lateCalls(page),
    ...chargeSteps(page),
    ...holdEnded(page),
    ...reply(page),
    ...refunds(page),
  ]
  const timeOf = (step: TimelineStep) => new Date(step.at ?? begun ?? 0).getTime()
  return steps.toSorted((a, b) => timeOf(a) - timeOf(b))
}

type Steps = readonly TimelineStep[]

function arrival({ request }: RequestPage): Steps {
  if (request === null) return []
  return [{ title: words.arrived, text: request.route, at: request.created_at }]
}

function holdPlaced({ hold, request }: RequestPage): Steps {
  if (hold === null) return []
  const at = hold.placed_at ?? request?.created_at ?? null
  return [{ title: words.held(money(hold.amount_usd)), at }]
}

/** The record has no times of the calls. */
function calls({ request }: RequestPage): Steps {
  return (request?.attempts ?? []).map(({ provider, reason }) => ({
    title: words.called(provider),
    text: reason === null ? words.answered : reason,
    tone: reason === null ? 'good' : 'bad',
  }))
}

function jobSteps({ job }: RequestPage): Steps {
  return (job?.history ?? []).map(({ state, detail, at }) => ({
    title: words.job(jobWords.states[state]),
    text: detail,
    at,
    tone: jobTones[state],
  }))
}

function lateCalls({ undelivered_attempts: attempts }: RequestPage): Steps {
  return attempts.map(({ provider, state, cost_usd: cost, at }) => ({
    title: words.called(provider),
    text: `${words.lateStates[state]}${cost === null ? '' : ` ${money(cost)}`}`,
    at,
    tone: 'warn',
  }))
}

function chargeSteps({ charge }: RequestPage): Steps {
  if (charge === null) return []
  return [{ title: words.charged(money(charge.cost_usd)), at: charge.created_at, tone: 'good' }]
}

function holdEnded({ hold }: RequestPage): Steps {
  if (hold === null || hold.ended_at === null) return []
  return [{ title: words.holdEnded[hold.state], at: hold.ended_at }]
}

function reply({ request }: RequestPage): Steps {
  if (request === null) return []
  const { status, duration_ms: ms, client_disconnected: isGone, created_at: begun } = request
  // The time of the arrival is cut to a millisecond. The reply must not stand before a charge that it followed.
  const at = new Date(new Date(begun).getTime() + Math.ceil(ms)).toISOString()
  const title = isGone ? words.disconnected : words.replied(status)
  return [{ title, text: words.after(milliseconds(ms)), at, tone: status >= 400 ? 'warn' : 'good' }]
}

function refunds({ charge }: RequestPage): Steps {
  return (charge?.refunds ?? []).map(({ amount_usd: amount, note, created_at: at }) => ({
    title: words.refunded(money(amount)),
    text: note,
    at,
    tone: 'accent',
  }))
}
