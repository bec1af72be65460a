import type { Provider } from '../../domain/catalog/provider.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { MediaProvider, RecoverOutcome } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import type { SecretOf } from '../http/address.ts'
import type { MediaAnswer, MediaReply, SendMedia } from '../media/media-http.ts'
import { probeAt } from '../media/probe.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable, unanswered } from '../media/outcomes.ts'
import { joinedBody } from '../media/request-bodies.ts'
import { isTokenRefused, NO_SUCH_RESOURCE, readEnvelope, troubleOf } from './envelope.ts'
import { klingTarget, klingTokens, type KlingKeys, type KlingTokens } from './kling-target.ts'
import {
  createBody,
  createKind,
  externalIdOf,
  formatUpstreamId,
  parseUpstreamId,
  readCreated,
  readTask,
  taskOf,
  type KlingJob,
} from './wire.ts'

export const klingKind: MediaKindEntry = {
  rules: {
    hasKeyPair: true,
    reportsCredits: true,
  },
  makes: ['video'],
  provider: kling,
  probe: probeKling,
}

type KlingPorts = { readonly send: SendMedia; readonly clock: Clock; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * The Kling API: videos from text or from images. The submission carries our job id as `external_task_id`, and recovery
 * finds the job by it. An answer that does not repeat exactly this id is not accepted.
 */
export function kling({ send, clock, secretOf }: KlingPorts): MediaProvider {
  const tokens = klingTokens(clock)

  async function query(call: TaskQuery, { kind, taskId }: KlingJob): Promise<MediaReply | QueryProblem> {
    const target = klingTarget(call.provider, `${kind}/${encodeURIComponent(taskId)}`, { tokens, secretOf })
    if ('problem' in target) return target
    const { provider, timeoutMs } = call
    const reply = await send({ provider, method: 'GET', url: target.url, headers: target.headers, timeoutMs })
    forgetRefusedToken(reply, target.keys, tokens)
    return reply
  }

  return {
    pollEveryMsMin: POLL_EVERY_MS,

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const kind = createKind(call)
      const target = klingTarget(call.provider, kind, { tokens, secretOf })
      if ('problem' in target) return notCallable(target.problem)
      const { provider, timeoutMs } = call
      const body = joinedBody(createBody(call))
      const reply = await send({
        provider,
        method: 'POST',
        url: target.url,
        headers: target.headers,
        body,
        timeoutMs,
      })
      forgetRefusedToken(reply, target.keys, tokens)
      if (reply.reply === 'answer') return readCreated(reply, kind)
      return unanswered(reply)
    },

    async poll(job) {
      const known = parseUpstreamId(job.upstreamId)
      if (known === undefined) return unavailable('the job was not made by this kind of provider')
      const reply = await query(job, known)
      return isAnswer(reply) ? readTask(reply, job.provider) : unavailable(reply.problem)
    },

    async recover(job): Promise<RecoverOutcome> {
      const kind = createKind(job.request)
      const reply = await query(job, { kind, taskId: job.jobId })
      if (!isAnswer(reply)) return unavailable(reply.problem)
      if (readEnvelope(reply.body)?.code === NO_SUCH_RESOURCE) return { outcome: 'absent' }
      const outcome = readTask(reply, job.provider)
      if (outcome.outcome === 'unavailable') return outcome
      const task = taskOf(reply, kind)
      if (task === undefined || externalIdOf(reply) !== job.jobId)
        return unavailable('the answer does not name this job as its external_task_id')
      return { ...outcome, upstreamId: formatUpstreamId(task) }
    },
  }
}

type TaskQuery = { readonly provider: Provider; readonly timeoutMs: number }
type QueryProblem = { readonly problem: string }

function forgetRefusedToken(reply: MediaReply, keys: KlingKeys, tokens: KlingTokens): void {
  if (reply.reply === 'answer' && isTokenRefused(readEnvelope(reply.body)?.code)) tokens.forget(keys)
}

function isAnswer(
  reply: MediaReply | QueryProblem,
): reply is Extract<MediaReply, { readonly reply: 'answer' }> {
  return 'reply' in reply && reply.reply === 'answer'
}

/** Requests a page of one job, which costs nothing. Never throws; ends within five seconds. */
export async function probeKling(
  provider: Provider,
  { send, clock, secretOf }: KlingPorts,
): Promise<ProbeResult> {
  const target = klingTarget(provider, 'text2video', { tokens: klingTokens(clock), secretOf })
  return probeAt(target, provider, { send, judge, query: { pageNum: '1', pageSize: '1' } })
}

function judge({ status, body }: MediaAnswer): ProbeResult {
  const code = readEnvelope(body)?.code
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (code === undefined || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the Kling API (${shown}).` }
  if (isTokenRefused(code)) return { ok: false, detail: `Refuses its keys (${shown}).` }
  if (troubleOf(code) === 'operator') return { ok: false, detail: `Refuses the account (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
