import type { Provider } from '../../domain/catalog/provider.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { MediaProvider, PollOutcome } from '../../gateway/ports/media-provider.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import type { SendWhole, WholeAnswer, WholeReply } from '../media/send-whole.ts'
import { submitTo } from '../media/submit-to.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { submitBody, versionOf } from './submit-body.ts'
import { parseUpstreamId, readFile, readSubmitted, readTaskV1, readTaskV2 } from './wire.ts'

export type MinimaxPorts = { readonly send: SendWhole; readonly clock: Clock; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 5000

/**
 * MiniMax: Hailuo and older models through v1 of its API, and `MiniMax-H3` through v2. No answer and no list names our
 * job, so the job of a lost answer cannot be found, and the hold of an unknown submit is released at its deadline.
 */
export function minimax({ send, clock, secretOf }: MinimaxPorts): MediaProvider {
  async function get(call: GetCall, path: string, query: Readonly<Record<string, string>> = {}) {
    const { provider, timeoutMs } = call
    const address = minimaxAddress(provider, path, secretOf)
    if ('problem' in address)
      return { reply: 'none', isSent: false, problem: address.problem } satisfies WholeReply
    for (const [name, value] of Object.entries(query)) address.url.searchParams.set(name, value)
    return send({ provider, method: 'GET', ...address, timeoutMs })
  }

  async function pollV1(call: GetCall, taskId: string): Promise<PollOutcome> {
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

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const version = versionOf(call.model)
      const address = minimaxAddress(call.provider, `/${version}/video_generation`, secretOf)
      const read = (answer: WholeAnswer) => readSubmitted(answer, version)
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

type GetCall = { readonly provider: Provider; readonly timeoutMs: number }

/** The address of a path of the API. The base URL may end with a version. */
export function minimaxAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): ReturnType<typeof addressOf> {
  const { baseUrl = '' } = provider
  return addressOf({ ...provider, baseUrl: baseUrl.replace(/\/v[12]\/?$/, '') }, path, secretOf)
}
