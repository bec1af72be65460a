import type { Provider } from '../../domain/catalog/provider.ts'
import type { ApiVersion, TextProvider } from '../../gateway/ports/providers/text-provider.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'
import { addressOf, type Address, type SecretOf } from '../http/address.ts'
import { textOverHttp, type HttpPorts } from '../http/text-over-http.ts'
import { anthropicHeaders, requestVersion, withCreditStatus } from './wire.ts'

type AnthropicPorts = HttpPorts & { readonly secretOf: SecretOf }

/**
 * Any server that speaks Anthropic's HTTP dialect. Like `openai-compatible`, it sends the request's text and hands on
 * the answer as they are. The client's `anthropic-version` and `anthropic-beta` belong to the text and go with it.
 */
export function anthropic(ports: AnthropicPorts): TextProvider {
  const requestTo = requests(ports.secretOf)
  const provider = textOverHttp(ports, call => requestTo(call.provider, call.apiVersion))
  return {
    complete: async (call, signal) => withCreditStatus(await provider.complete(call, signal)),
    async stream(call, signal) {
      const outcome = await provider.stream(call, signal)
      return outcome.outcome === 'opened' ? outcome : withCreditStatus(outcome)
    },
  }
}

const NO_VERSION: ApiVersion = { version: null, betas: null }

type Outcome<Value> = Value | { readonly problem: string }

/** The address is built once for each provider value, because the catalog makes a new value with each edit. */
function requests(secretOf: SecretOf) {
  const known = new WeakMap<Provider, Address>()
  const addressFor = (provider: Provider): Outcome<Address> => {
    const found = known.get(provider)
    if (found !== undefined) return found
    const made = addressOf(provider, '/messages', secretOf, anthropicHeaders)
    if (!('problem' in made)) known.set(provider, made)
    return made
  }
  return (provider: Provider, client: ApiVersion = NO_VERSION): Outcome<HttpRequest> => {
    const address = addressFor(provider)
    if ('problem' in address) return address
    const headers = new Headers(address.headers)
    const { version, betas } = requestVersion(client, provider.betas)
    // The operator's own header comes first.
    if (version !== undefined && provider.headers['anthropic-version'] === undefined)
      headers.set('anthropic-version', version)
    if (betas !== undefined) headers.set('anthropic-beta', betas)
    const { url } = address
    return httpRequest({ method: 'POST', url, headers, reuseConnection: provider.reusesConnections })
  }
}
