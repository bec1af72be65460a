import type { Provider } from '../../domain/catalog/provider.ts'
import type { Failure, Job } from '../../domain/jobs/job.ts'
import { scrub } from '../../protocol/scrub.ts'
import type { Rejection } from '../ports/media-provider.ts'
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
export function rejectionFailure(rejection: Rejection, at: FailedAt, ports: SecretsPorts): Failure {
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
  { secretsOf }: SecretsPorts,
): { readonly code?: string; readonly message: string } {
  const secrets = {
    baseUrls: provider.baseUrl === undefined ? [] : [provider.baseUrl],
    keys: secretsOf(provider),
  }
  // Cut last: a part of a key or of a host would not be recognized.
  const scrubbed = (text: string) => scrub(text.slice(0, READ_CHARS_MAX), secrets)
  return {
    ...(code === undefined || code === '' ? {} : { code: scrubbed(code).slice(0, CODE_CHARS_MAX) }),
    message: withoutProviderNames(scrubbed(message), job).slice(0, MESSAGE_CHARS_MAX),
  }
}
