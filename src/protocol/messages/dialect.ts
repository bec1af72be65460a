import { formatId } from '../../domain/ids.ts'
import { readChatAnswer, type ChatAnswer } from '../chat/dialect.ts'
import { jsonObjectOf } from '../json/parse-json.ts'
import { moderatedText } from '../moderated-text.ts'
import { EVENT_STREAM_TYPE } from '../sse/event-stream-type.ts'
import type { TextDialect } from '../text-dialect.ts'
import { messageOf } from './message.ts'
import { messageEvents, messageJson } from './reply.ts'
import { chatRequestOf, readMessagesRequest, type MessagesRequest } from './request.ts'

/**
 * `POST /v1/messages`: calls the upstream's chat route, and converts its finished answer to a message or to its events.
 */
export const messagesDialect = {
  route: 'messages',
  upstreamRoute: 'chat',
  serves: 'chat',
  readRequest: readMessagesRequest,
  // From the converted request, so that dropped fields are not moderated.
  moderatedText: ({ chatJson }) => moderatedText(jsonObjectOf(chatJson)),
  forUpstream: (request, model, { maxTokensField, omitFields }) =>
    chatRequestOf(request, { model, maxTokensField, omitFields }),
  readAnswer: readChatAnswer,
  forClient({ completion }, receipt, { isStream }) {
    const message = messageOf(completion, () => formatId('req', receipt.id))
    return isStream ? messageEvents(message, receipt) : messageJson(message, receipt)
  },
  contentTypeOf: ({ isStream }) => (isStream ? EVENT_STREAM_TYPE : 'application/json'),
} as const satisfies TextDialect<MessagesRequest, ChatAnswer>
