import type { TextProvider } from '../../gateway/ports/text-provider.ts'
import { targets, type SecretOf } from './target.ts'
import { textOverHttp, type HttpPorts } from './text-over-http.ts'

export type OpenAiCompatiblePorts = HttpPorts & { readonly secretOf: SecretOf }

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's text is sent unchanged, and its headers come only from
 * the provider's row. The answer is returned unchanged.
 */
export function openAiCompatible(ports: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(ports.secretOf)
  return textOverHttp(ports, ({ provider, route }) => {
    const target = targetOf(provider)
    return 'problem' in target ? target : target[route]
  })
}
