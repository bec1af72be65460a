import type { Clock } from '../gateway/ports/clock.ts'
import type { MediaProviders, ProviderAdapters } from '../gateway/ports/providers.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import type { Timers } from '../http1/timers.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { anthropicHeaders } from './anthropic/wire.ts'
import { kling } from './kling/kling.ts'
import { probeKling } from './kling/probe-kling.ts'
import { mediaHttp } from './media/media-http.ts'
import { openAiImages } from './openai-images/openai-images.ts'
import type { Renderer } from './sandbox/media/renderer.ts'
import { sandboxMedia } from './sandbox/media/sandbox-media.ts'
import { openAiCompatible } from './openai-compatible/openai-compatible.ts'
import { probeOpenAiCompatible } from './openai-compatible/probe.ts'
import type { SecretOf } from './openai-compatible/target.ts'
import { probeSandbox, sandbox } from './sandbox/sandbox.ts'

export type AdapterPorts = {
  readonly clock: Clock
  readonly http: HttpClient
  readonly timers: Timers
  readonly secretOf: SecretOf
  readonly isSandboxOn: boolean
  readonly renderer: Renderer
  /** In place of the ones below. */
  readonly mediaProviders?: MediaProviders
}

/** The adapters of all kinds of providers. A new kind is a folder beside this file and an entry here. */
export function providerAdapters(ports: AdapterPorts): ProviderAdapters {
  const { clock, renderer, secretOf, mediaProviders: given = {} } = ports
  const send = mediaHttp(ports.http)
  return {
    'openai-compatible': {
      text: openAiCompatible(ports),
      probe: provider => probeOpenAiCompatible(provider, ports),
    },
    anthropic: {
      text: anthropic(ports),
      probe: provider => probeOpenAiCompatible(provider, ports, anthropicHeaders),
    },
    'openai-images': {
      media: { kinds: ['image'], provider: given['openai-images'] ?? openAiImages({ send, secretOf }) },
      probe: provider => probeOpenAiCompatible(provider, ports),
    },
    kling: {
      media: { kinds: ['video'], provider: given.kling ?? kling({ send, clock, secretOf }) },
      probe: provider => probeKling(provider, { send, clock, secretOf }),
    },
    sandbox: {
      text: sandbox(ports),
      media: {
        kinds: ['image', 'video'],
        provider: given.sandbox ?? sandboxMedia({ clock, renderer }),
      },
      probe: () => probeSandbox(ports),
    },
  }
}
