import type { Provider } from '../../../domain/catalog/provider.ts'
import type { Failure, Job } from '../../../domain/jobs/job.ts'
import { scrub } from '../../../protocol/scrub.ts'
import type { Rejection } from '../../ports/providers/media-provider.ts'
import { withoutProviderNames } from './provider-names.ts'

/** A provider's text is read up to this length. The next limits are for the parts that the client sees. */
const READ_CHARS_MAX = 16 * 1024
const MESSAGE_CHARS_MAX = 1000
const CODE_CHARS_MAX = 200

/** The job that failed, and the row of its provider. */
type FailedAt = {
  readonly job: Pick<Job, 'model' | 'upstreamModel'>
  readonly provider: Provider
}

/** A failure, and the provider's text for the operator. */
type FailedText = Failure & { readonly problem: string }

export type SecretsPorts = { readonly secretsOf: (provider: Provider) => readonly string[] }

export const NO_PROVIDER: Failure = {
  reason: 'provider_unavailable',
  code: 'provider_unavailable',
  message: 'The model is not available at its provider. Try another model.',
}
/** The client sees the same as for a refused key: how the operator's provider is set up is not its concern. */
const NOT_CONFIGURED: Failure = { ...NO_PROVIDER, reason: 'not_configured' }
export const ID_TAKEN: Failure = {
  reason: 'no_job_id',
  message: 'The provider answered with the id of another job, so this job cannot be followed.',
}
const RATE_LIMITED_MESSAGE = 'The provider accepts no more jobs at the moment. Try again later.'
export const LINK_REFUSED: Failure = {
  reason: 'rejected',
  code: 'FILE_DOWNLOAD_FAILED',
  message: 'An input link could not be downloaded as an image or a video. Send the file itself.',
}
export const SOURCE_DELETED: Failure = {
  reason: 'rejected',
  code: 'content_archived',
  message: 'The clip of the earlier job was deleted before this job was sent.',
}
export const NOTHING_MADE: Failure = {
  reason: 'generation_failed',
  message: 'The provider finished the job without a result.',
}
export const SUBMIT_UNCONFIRMED: Failure = {
  reason: 'submit_unconfirmed',
  code: 'submit_unconfirmed',
  message: 'The provider never confirmed the job. Its reserve was released.',
}
export const OVERDUE: Failure = {
  reason: 'overdue',
  code: 'job_overdue',
  message: 'The job did not finish in time. Its reserve was released.',
}
export const RESULT_LOST: Failure = {
  reason: 'result_lost',
  code: 'result_lost',
  message: 'The provider made a result that cannot be downloaded. Its reserve was released.',
}

/**
 * The provider refused a submission. Problems of the operator's account at the provider are never shown to a customer.
 * Texts about rates can reveal them too, because a low credit lowers the rate.
 */
export function rejectionFailure(rejection: Rejection, at: FailedAt, ports: SecretsPorts): FailedText {
  return { ...shownFailure(rejection, at, ports), problem: problemText(rejection.message, at, ports) }
}

function shownFailure(rejection: Rejection, at: FailedAt, ports: SecretsPorts): Failure {
  switch (rejection.reason) {
    case 'operator':
      return rejection.status === undefined ? NOT_CONFIGURED : NO_PROVIDER
    case 'no_id':
      return { reason: 'no_job_id', message: 'The provider answered without an id for the job.' }
    case 'rate_limited':
      return {
        reason: 'rate_limited',
        ...failureText({ ...rejection, message: RATE_LIMITED_MESSAGE }, at, ports),
        ...(rejection.retryAfterS === undefined ? {} : { retryAfterS: rejection.retryAfterS }),
      }
    case 'invalid':
      return { reason: 'rejected', ...failureText(rejection, at, ports) }
  }
}

/**
 * A provider's code and message without its hosts and keys. The message has no names of vendors either, and the
 * catalog's name of the model. The code is passed on: clients compare it.
 */
export function failureText(
  { code, message }: { readonly code?: string; readonly message: string },
  { job, provider }: FailedAt,
  ports: SecretsPorts,
): { readonly code?: string; readonly message: string } {
  const scrubbed = scrubberOf(provider, ports)
  return {
    ...(code === undefined || code === '' ? {} : { code: scrubbed(code).slice(0, CODE_CHARS_MAX) }),
    message: withoutProviderNames(scrubbed(message), job).slice(0, MESSAGE_CHARS_MAX),
  }
}

/** A provider's message for the operator: names of vendors and models stay, and keys, links and hosts do not. */
export function problemText(message: string, { provider }: FailedAt, ports: SecretsPorts): string {
  return scrubberOf(provider, ports)(message).slice(0, MESSAGE_CHARS_MAX)
}

/** Its results are cut last: a part of a key or of a host would not be recognized. */
function scrubberOf(provider: Provider, { secretsOf }: SecretsPorts): (text: string) => string {
  const baseUrls = provider.baseUrl === undefined ? [] : [provider.baseUrl]
  const secrets = { baseUrls, keys: secretsOf(provider) }
  return text => scrub(text.slice(0, READ_CHARS_MAX), secrets)
}
