import type { TextProvider } from '../../gateway/ports/text-provider.ts'
import { targets, type SecretOf } from './target.ts'
import { textOverHttp, type HttpPorts } from './text-over-http.ts'

export type OpenAiCompatiblePorts = HttpPorts & { readonly secretOf: SecretOf }

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's text is sent as it is, with headers from the provider's
 * row alone. The answer is handed on as it is.
 */
export function openAiCompatible(ports: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(ports.secretOf)
  return textOverHttp(ports, ({ provider, route }) => {
    const target = targetOf(provider)
    return 'problem' in target ? target : target[route]
  })
}
