import { GatewayError } from '../../domain/errors.ts'

/** Far more writes than a node has in flight. A store that cannot commit must not fill the memory. */
export const WAITING_MAX = 65_536

/** The error for callers whose work was not written. A retry can help. */
export function notRecorded(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The gateway could not record this. Try again shortly.', {
    retryAfter: '5',
    cause,
  })
}

export function storeClosing(): GatewayError {
  return new GatewayError('unavailable', 'The store is closing.')
}

export function tooManyWaiting(): GatewayError {
  return new GatewayError('unavailable', 'The store has too many writes waiting. Try again shortly.')
}
