import type { Clock } from '../gateway/ports/clock.ts'
import type { MediaKind, ProviderKind } from '../domain/catalog/provider.ts'
import type { MediaProvider } from '../gateway/ports/media-provider.ts'
import type { MediaProviders, ProviderAdapter, ProviderAdapters } from '../gateway/ports/providers.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import type { Timers } from '../http1/timers.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { anthropicHeaders } from './anthropic/wire.ts'
import { fal } from './fal/fal.ts'
import { probeFal } from './fal/probe-fal.ts'
import { geminigen } from './geminigen/geminigen.ts'
import { probeGeminigen } from './geminigen/probe-geminigen.ts'
import { probeGemini } from './gemini-api/probe-gemini.ts'
import { geminiImages } from './gemini-images/gemini-images.ts'
import { kling } from './kling/kling.ts'
import { probeKling } from './kling/probe-kling.ts'
import { mediaHttp } from './media/media-http.ts'
import { minimax } from './minimax/minimax.ts'
import { probeMinimax } from './minimax/probe-minimax.ts'
import { openAiImages } from './openai-images/openai-images.ts'
import { probeReplicate } from './replicate/probe-replicate.ts'
import { replicate } from './replicate/replicate.ts'
import { probeRunway } from './runway/probe-runway.ts'
import { runway } from './runway/runway.ts'
import type { Renderer } from './sandbox/media/renderer.ts'
import { probeSeedance } from './seedance/probe-seedance.ts'
import { seedance } from './seedance/seedance.ts'
import { veo } from './veo/veo.ts'
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

/** The adapters of all kinds of providers. */
export function providerAdapters(ports: AdapterPorts): ProviderAdapters {
  const { clock, renderer, mediaProviders: given = {} } = ports
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
        provider: sandboxMedia({ clock, renderer }),
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

/** A new kind is a folder beside this file, an entry here, and an entry in `mediaKinds` of the domain. */
function mediaAdapters(ports: AdapterPorts): Readonly<Record<MediaKind, ProviderAdapter>> {
  const { clock, secretOf } = ports
  const send = mediaHttp(ports.http)
  return {
    'openai-images': {
      media: { kinds: ['image'], provider: openAiImages({ send, secretOf }) },
      probe: provider => probeOpenAiCompatible(provider, ports),
    },
    'gemini-images': {
      media: { kinds: ['image'], provider: geminiImages({ send, secretOf }) },
      probe: provider => probeGemini(provider, { send, secretOf }),
    },
    kling: {
      media: { kinds: ['video'], provider: kling({ send, clock, secretOf }) },
      probe: provider => probeKling(provider, { send, clock, secretOf }),
    },
    fal: {
      media: { kinds: ['image', 'video'], provider: fal({ send, clock, secretOf }) },
      probe: provider => probeFal(provider, { send, secretOf }),
    },
    geminigen: {
      media: { kinds: ['image', 'video'], provider: geminigen({ send, secretOf }) },
      probe: provider => probeGeminigen(provider, { send, secretOf }),
    },
    minimax: {
      media: { kinds: ['video'], provider: minimax({ send, clock, secretOf }) },
      probe: provider => probeMinimax(provider, { send, secretOf }),
    },
    replicate: {
      media: { kinds: ['image', 'video'], provider: replicate({ send, secretOf }) },
      probe: provider => probeReplicate(provider, { send, secretOf }),
    },
    runway: {
      media: { kinds: ['image', 'video'], provider: runway({ send, secretOf }) },
      probe: provider => probeRunway(provider, { send, secretOf }),
    },
    seedance: {
      media: { kinds: ['video'], provider: seedance({ send, secretOf }) },
      probe: provider => probeSeedance(provider, { send, secretOf }),
    },
    veo: {
      media: { kinds: ['video'], provider: veo({ send, secretOf }) },
      probe: provider => probeGemini(provider, { send, secretOf }),
    },
  }
}

/** The adapter with another provider of media, if one is given. */
function withMedia(adapter: ProviderAdapter, provider: MediaProvider | undefined): ProviderAdapter {
  if (provider === undefined || adapter.media === undefined) return adapter
  return { ...adapter, media: { ...adapter.media, provider } }
}
