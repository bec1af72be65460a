import { GatewayError } from '../domain/errors.ts'
import type { Ledger } from '../gateway/ports/ledger.ts'

/**
 * A ledger that refuses new holds while its store cannot be written, because the charge of that work could not be
 * recorded.
 */
export function guardedLedger<Books extends Ledger>(ledger: Books, isWritable: () => boolean): Books {
  return {
    ...ledger,
    placeHold: request => (isWritable() ? ledger.placeHold(request) : Promise.reject(unavailable())),
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record charges at the moment. Try again shortly.',
    {
      retryAfterS: '5',
    },
  )
}
