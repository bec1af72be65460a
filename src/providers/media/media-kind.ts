import type { MediaKindRules, Provider } from '../../domain/catalog/provider.ts'
import type { JobKind } from '../../domain/jobs/job.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import type { SecretOf } from '../http/address.ts'
import type { SendMedia } from './media-http.ts'

type MediaKindPorts = {
  readonly send: SendMedia
  readonly http: HttpClient
  readonly clock: Clock
  readonly secretOf: SecretOf
}

/** A kind of image or video provider: the interface of its folder to the rest of the gateway. */
export type MediaKindEntry = {
  /** The rules for its rows in the catalog. */
  readonly rules: MediaKindRules
  readonly makes: readonly JobKind[]
  readonly provider: (ports: MediaKindPorts) => MediaProvider
  /** Checks whether a provider responds and accepts its key. Costs nothing, never throws, and ends within seconds. */
  readonly probe: (provider: Provider, ports: MediaKindPorts) => Promise<ProbeResult>
}
