import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { probeWith } from '../media/probe-with.ts'
import { falAddress, type FalPorts } from './fal.ts'
import { pathOf } from './wire.ts'

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
