import { GatewayError } from '../domain/errors.ts'
import type { Ledger } from '../gateway/ports/ledger.ts'

/**
 * The ledger, which takes no new hold while its store cannot be written: what the work behind the hold costs upstream could not be
 * charged to anybody.
 */
export function guardedLedger<Books extends Ledger>(ledger: Books, isWritable: () => boolean): Books {
  return {
    ...ledger,
    placeHold: request => (isWritable() ? ledger.placeHold(request) : Promise.reject(unavailable())),
  }
}

function unavailable(): GatewayError {
  return new GatewayError('unavailable', 'The gateway cannot write its books for now. Try again shortly.', {
    retryAfterS: '5',
  })
}
