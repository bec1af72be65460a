import { GatewayError } from '../../domain/errors.ts'

/** For a body that is not a multipart form; `reason` completes the sentence. */
export function invalidForm(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('malformed_request', `The multipart form is not valid: ${reason}.`, { cause })
}
