import type { Provider } from '../../domain/catalog/provider.ts'
import { MS_PER_HOUR } from '../../domain/time.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { AcceptedJob, MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { addressOf, type Address, type SecretOf } from '../http/address.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import { submitTo, type SendMedia, type MediaAnswer, type MediaReply } from '../media/media-http.ts'
import { probeWith } from '../media/probe.ts'
import {
  appOf,
  createBody,
  isApp,
  parseUpstreamId,
  pathOf,
  readCreated,
  readResult,
  readStatus,
} from './wire.ts'

export const falKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://queue.fal.run',
  },
  makes: ['image', 'video'],
  provider: fal,
  probe: probeFal,
}

type FalPorts = { readonly send: SendMedia; readonly clock: Clock; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * The queue of fal: images and videos of many models. A poll asks for the status, and for the result of a completed
 * job. The API cannot find a job without its own id, so a submission whose answer is lost is not recovered. Links that
 * the provider returns are not called: each address is built from the base URL and the ids.
 */
export function fal({ send, clock, secretOf }: FalPorts): MediaProvider {
  function get(job: AcceptedJob, path: string, timeoutMs: number): Promise<MediaReply> {
    const address = falAddress(job.provider, path, secretOf)
    if ('problem' in address) return Promise.resolve(noReply(address.problem))
    return send({ ...address, provider: job.provider, method: 'GET', timeoutMs })
  }

  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Results stay for days. A model has no field for an earlier job, and takes its clip.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: 24 * MS_PER_HOUR }),

    async submit(call) {
      const { provider, model } = call
      if (!isApp(appOf(model))) return notCallable(`the model "${model}" is not the path of an app at fal`)
      const address = falAddress(provider, `/${model}`, secretOf)
      const base = falAddress(provider, '', secretOf)
      if ('problem' in base) return notCallable(base.problem)
      const read = (answer: MediaAnswer) => readCreated(answer, { model, baseUrl: base.url })
      return submitTo(address, createBody(call), call, { send, read })
    },

    async poll(job) {
      const known = parseUpstreamId(job.upstreamId)
      if (known === undefined) return unavailable('the job was not made by this kind of provider')
      const startedAtMs = clock.monotonicMs()
      const status = await get(job, `${pathOf(known)}/status`, job.timeoutMs)
      if (status.reply === 'none') return unavailable(status.problem)
      const state = readStatus(status)
      if (state !== 'completed') return state
      const leftMs = job.timeoutMs - (clock.monotonicMs() - startedAtMs)
      const result = await get(job, pathOf(known), Math.max(1, leftMs))
      return result.reply === 'none' ? unavailable(result.problem) : readResult(result)
    },
  }
}

/** The address of a path of the API, with the key, or why the provider cannot be called. */
function falAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): Address | { readonly problem: string } {
  return addressOf(provider, path, secretOf, secret =>
    secret === undefined ? {} : { authorization: `Key ${secret}` },
  )
}

function noReply(problem: string): MediaReply {
  return { reply: 'none', isSent: false, problem }
}

/** No request has this id. */
const NO_REQUEST = { app: 'fal-ai/flux', requestId: '00000000-0000-0000-0000-000000000000' }

/**
 * Asks for a request that does not exist, which costs nothing. A valid key gets an answer about the request. Never
 * throws; ends within five seconds.
 */
export function probeFal(
  provider: Provider,
  { send, secretOf }: Pick<FalPorts, 'send' | 'secretOf'>,
): Promise<ProbeResult> {
  const address = falAddress(provider, `${pathOf(NO_REQUEST)}/status`, secretOf)
  return probeWith(address, provider, send, { missing: 'ok' })
}
