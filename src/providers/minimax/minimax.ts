import type { Provider } from '../../domain/catalog/provider.ts'
import { MS_PER_HOUR } from '../../domain/time.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { MediaProvider, PollOutcome } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { submitTo, type SendMedia, type MediaAnswer, type MediaReply } from '../media/media-http.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import { probeAt } from '../media/probe.ts'
import { submitBody, versionOf } from './submit-body.ts'
import {
  parseUpstreamId,
  readEnvelope,
  readFile,
  readSubmitted,
  readTaskV1,
  readTaskV2,
  troubleOf,
} from './wire.ts'

export const minimaxKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.minimax.io',
  },
  makes: ['video'],
  provider: minimax,
  probe: probeMinimax,
}

type MinimaxPorts = { readonly send: SendMedia; readonly clock: Clock; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * MiniMax: Hailuo and older models through v1 of its API, and `MiniMax-H3` through v2. No answer and no list names our
 * job, so the job of a lost answer cannot be found, and the hold of an unknown submission is released at its deadline.
 */
export function minimax({ send, clock, secretOf }: MinimaxPorts): MediaProvider {
  async function get(call: TaskQuery, path: string, query: Readonly<Record<string, string>> = {}) {
    const { provider, timeoutMs } = call
    const address = minimaxAddress(provider, path, secretOf)
    if ('problem' in address)
      return { reply: 'none', isSent: false, problem: address.problem } satisfies MediaReply
    for (const [name, value] of Object.entries(query)) address.url.searchParams.set(name, value)
    return send({ provider, method: 'GET', ...address, timeoutMs })
  }

  async function pollV1(call: TaskQuery, taskId: string): Promise<PollOutcome> {
    const startedAtMs = clock.monotonicMs()
    const reply = await get(call, '/v1/query/video_generation', { task_id: taskId })
    if (reply.reply === 'none') return unavailable(reply.problem)
    const polled = readTaskV1(reply)
    if (polled.outcome !== 'made') return polled
    const leftMs = Math.max(1, call.timeoutMs - (clock.monotonicMs() - startedAtMs))
    const left = { ...call, timeoutMs: leftMs }
    const file = await get(left, '/v1/files/retrieve', { file_id: polled.fileId })
    return file.reply === 'none' ? unavailable(file.problem) : readFile(file)
  }

  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Links expire. The API does not document when.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: MS_PER_HOUR }),

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const version = versionOf(call.model)
      const address = minimaxAddress(call.provider, `/${version}/video_generation`, secretOf)
      const read = (answer: MediaAnswer) => readSubmitted(answer, version)
      return submitTo(address, submitBody(call), call, { send, read })
    },

    async poll(job) {
      const known = parseUpstreamId(job.upstreamId)
      if (known === undefined) return unavailable('the job was not made by this kind of provider')
      const { version, taskId } = known
      if (version === 'v1') return pollV1(job, taskId)
      const reply = await get(job, `/v2/query/video_generation/${encodeURIComponent(taskId)}`)
      return reply.reply === 'none' ? unavailable(reply.problem) : readTaskV2(reply)
    },
  }
}

type TaskQuery = { readonly provider: Provider; readonly timeoutMs: number }

/** The address of a path of the API. The base URL may end with a version. */
function minimaxAddress(provider: Provider, path: string, secretOf: SecretOf): ReturnType<typeof addressOf> {
  const { baseUrl = '' } = provider
  return addressOf({ ...provider, baseUrl: baseUrl.replace(/\/v[12]\/?$/, '') }, path, secretOf)
}

const NO_CREDIT = '1008'

/** Asks for a job that does not exist, which costs nothing. Never throws; ends within five seconds. */
export async function probeMinimax(
  provider: Provider,
  { send, secretOf }: Omit<MinimaxPorts, 'clock'>,
): Promise<ProbeResult> {
  const address = minimaxAddress(provider, '/v1/query/video_generation', secretOf)
  return probeAt(address, provider, { send, judge, query: { task_id: '0' } })
}

function judge({ status, body }: MediaAnswer): ProbeResult {
  const code = readEnvelope(body)?.code
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401 || status === 403) return { ok: false, detail: `Refuses its key (${shown}).` }
  if (code === undefined || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the MiniMax API (${shown}).` }
  if (code === NO_CREDIT) return { ok: false, detail: `Refuses the account (${shown}).` }
  if (troubleOf(code) === 'operator') return { ok: false, detail: `Refuses its key (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
