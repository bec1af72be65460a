import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { addressOf } from '../http/address.ts'
import { probeWith } from '../media/probe-with.ts'
import type { ReplicatePorts } from './replicate.ts'

/** Asks for the account of the key, which costs nothing. Never throws; ends within five seconds. */
export function probeReplicate(provider: Provider, { send, secretOf }: ReplicatePorts): Promise<ProbeResult> {
  return probeWith(addressOf(provider, '/account', secretOf), provider, send)
}
