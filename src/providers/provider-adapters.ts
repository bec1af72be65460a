import type { Clock } from '../gateway/ports/clock.ts'
import type { ProviderAdapters } from '../gateway/ports/providers.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import type { Timers } from '../http1/timers.ts'
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
}

/** The adapters of all kinds of providers. A new kind is a folder beside this file and an entry here. */
export function providerAdapters(ports: AdapterPorts): ProviderAdapters {
  return {
    'openai-compatible': {
      text: openAiCompatible(ports),
      probe: provider => probeOpenAiCompatible(provider, ports),
    },
    sandbox: { text: sandbox(ports), probe: () => probeSandbox(ports) },
  }
}
