import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { probeWith } from '../media/probe-with.ts'
import { runwayAddress, type RunwayPorts } from './runway.ts'

/** Asks for the organization of the key, which costs nothing. Never throws; ends within five seconds. */
export function probeRunway(provider: Provider, { send, secretOf }: RunwayPorts): Promise<ProbeResult> {
  return probeWith(runwayAddress(provider, '/v1/organization', secretOf), provider, send)
}
