import { isProxyNamed, type Config } from '../../config/config.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Moderator } from '../../gateway/ports/providers/moderator.ts'
import type { MediaProviders, ProviderAdapters } from '../../gateway/ports/providers/providers.ts'
import { fetchClient } from '../../http1/client/fetch-client.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { openAiModerations } from '../../providers/moderation/openai-moderations.ts'
import { providerAdapters } from '../../providers/provider-adapters.ts'
import { secretOf } from '../secret-of.ts'

/** What the gateway calls over the network, and the clients that it uses for that. */
export type Providers = {
  readonly providers: ProviderAdapters
  /** Undefined if moderation is off. */
  readonly moderator: Moderator | undefined
  /** The client over sockets, whether or not there is a proxy. */
  readonly sockets: HttpClient
  /** The client that uses the proxy, if there is one. */
  readonly http: HttpClient
  readonly close: () => void
}

/** Opens the HTTP clients, the adapters of all kinds of providers, and the moderator. */
export function openProviders(parts: {
  readonly config: Config
  readonly clock: Clock
  readonly mediaProviders: MediaProviders
}): Providers {
  const { config, clock, mediaProviders } = parts
  const timers = new Timers(clock)
  const sockets = httpClient(timers)
  const http = isProxyNamed() ? fetchClient(timers) : sockets
  const { isSandboxOn } = config
  return {
    providers: providerAdapters({ clock, http, timers, secretOf, isSandboxOn, mediaProviders }),
    moderator: moderatorOf(config, http),
    sockets,
    http,
    close() {
      http.close()
      sockets.close()
    },
  }
}

function moderatorOf({ moderationUrl, moderationKey }: Config, http: HttpClient): Moderator | undefined {
  if (moderationUrl === undefined) return undefined
  return openAiModerations({ url: moderationUrl, key: moderationKey }, { http })
}
