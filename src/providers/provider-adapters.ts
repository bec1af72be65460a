import type { Clock } from '../gateway/ports/clock.ts'
import type { MediaKind, ProviderKind } from '../domain/catalog/provider.ts'
import type { MediaProvider } from '../gateway/ports/providers/media-provider.ts'
import type {
  MediaProviders,
  ProviderAdapter,
  ProviderAdapters,
} from '../gateway/ports/providers/providers.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import type { Timers } from '../http1/timers.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { anthropicHeaders } from './anthropic/wire.ts'
import { mediaHttp } from './media/media-http.ts'
import type { MediaKindEntry } from './media/media-kind.ts'
import { mediaKindEntries } from './media-kinds.ts'
import { sandboxMedia } from './sandbox/media/sandbox-media.ts'
import { openAiCompatible, probeOpenAiCompatible } from './openai-compatible/openai-compatible.ts'
import type { SecretOf } from './http/address.ts'
import { probeSandbox, sandbox } from './sandbox/sandbox.ts'

type AdapterPorts = {
  readonly clock: Clock
  readonly http: HttpClient
  readonly timers: Timers
  readonly secretOf: SecretOf
  readonly isSandboxOn: boolean
  /** Replaces the adapters below. */
  readonly mediaProviders?: MediaProviders
}

/** The adapters of all kinds of providers. */
export function providerAdapters(ports: AdapterPorts): ProviderAdapters {
  const { clock, mediaProviders: given = {} } = ports
  const adapters: ProviderAdapters = {
    ...mediaAdapters(ports),
    'openai-compatible': {
      text: openAiCompatible(ports),
      probe: provider => probeOpenAiCompatible(provider, ports),
    },
    anthropic: {
      text: anthropic(ports),
      probe: provider => probeOpenAiCompatible(provider, ports, anthropicHeaders),
    },
    sandbox: {
      text: sandbox(ports),
      media: {
        kinds: ['image', 'video'],
        provider: sandboxMedia({ clock }),
      },
      probe: () => probeSandbox(ports),
    },
  }
  return Object.fromEntries(
    Object.entries(adapters).map(([kind, adapter]) => [
      kind,
      withMedia(adapter, given[kind as ProviderKind]),
    ]),
  ) as ProviderAdapters
}

/** Every kind that the domain knows has an entry. */
const mediaEntries: Readonly<Record<MediaKind, MediaKindEntry>> = mediaKindEntries

function mediaAdapters(ports: AdapterPorts): Readonly<Record<MediaKind, ProviderAdapter>> {
  const kindPorts = { ...ports, send: mediaHttp(ports.http) }
  const adapters = Object.entries(mediaEntries).map(([kind, entry]): [string, ProviderAdapter] => [
    kind,
    {
      media: { kinds: entry.makes, provider: entry.provider(kindPorts) },
      probe: provider => entry.probe(provider, kindPorts),
    },
  ])
  return Object.fromEntries(adapters) as Readonly<Record<MediaKind, ProviderAdapter>>
}

/** The adapter with another provider of media, if one is given. */
function withMedia(adapter: ProviderAdapter, provider: MediaProvider | undefined): ProviderAdapter {
  if (provider === undefined || adapter.media === undefined) return adapter
  return { ...adapter, media: { ...adapter.media, provider } }
}
