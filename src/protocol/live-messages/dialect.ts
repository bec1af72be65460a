import { GatewayError } from '../../domain/errors.ts'
import type { ChatAnswer } from '../chat/dialect.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { messagesDialect } from '../messages/dialect.ts'
import { readMessagesRequest, type ConversionOptions, type MessagesRequest } from '../messages/request.ts'
import { serverToolsOf } from '../native-messages/dialect.ts'
import type { StreamDialect } from '../text-dialect.ts'
import { LiveMessagesStream } from './live-messages-stream.ts'

const INCLUDE_USAGE = ',"stream_options":{"include_usage":true}'

/**
 * `POST /v1/messages` on the upstream's chat route, like `messagesDialect`, with streams that are converted while they
 * arrive. It departs from the contract in what it drops: the format of the output is carried, and tools of the provider
 * are refused, because the model must not answer without them.
 */
export const liveMessagesDialect = {
  ...messagesDialect,
  readRequest(document: JsonDocument, options: ConversionOptions = {}) {
    refuseServerTools(document.value)
    return readMessagesRequest(document, { ...options, carriesFormat: true })
  },
  forUpstream(request, model, provider) {
    const json = messagesDialect.forUpstream(request, model, provider)
    if (!request.isStream) return json
    const usage = provider.omitFields?.includes('stream_options') === true ? '' : INCLUDE_USAGE
    return `${json.slice(0, -1)},"stream":true${usage}}`
  },
  openStream: (request, terms) => new LiveMessagesStream(terms, request),
} as const satisfies StreamDialect<MessagesRequest, ChatAnswer>

/** Throws `invalid_field` for a request that lets the model use tools of the provider. */
function refuseServerTools(body: JsonDocument['value']): void {
  const tools = serverToolsOf(body)
  if (tools === undefined) return
  const message = `The tool "${tools.name}" runs at the provider, and no upstream of this model that can be called now has it. Leave it out, or use another model.`
  throw new GatewayError('invalid_field', message, { param: 'tools' })
}
