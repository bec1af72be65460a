import type { ChatAnswer } from '../chat/dialect.ts'
import { messagesDialect } from '../messages/dialect.ts'
import type { MessagesRequest } from '../messages/request.ts'
import type { StreamDialect } from '../text-dialect.ts'
import { LiveMessagesStream } from './live-messages-stream.ts'

const INCLUDE_USAGE = ',"stream_options":{"include_usage":true}'

/**
 * `POST /v1/messages` on the upstream's chat route, like `messagesDialect`, with streams that are converted while they
 * arrive.
 */
export const liveMessagesDialect = {
  ...messagesDialect,
  forUpstream(request, model, provider) {
    const json = messagesDialect.forUpstream(request, model, provider)
    if (!request.isStream) return json
    const usage = provider.omitFields?.includes('stream_options') === true ? '' : INCLUDE_USAGE
    return `${json.slice(0, -1)},"stream":true${usage}}`
  },
  openStream: (request, terms) => new LiveMessagesStream(terms, request),
} as const satisfies StreamDialect<MessagesRequest, ChatAnswer>
