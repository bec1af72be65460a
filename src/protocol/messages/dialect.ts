import { formatId } from '../../domain/ids.ts'
import { readChatAnswer, type ChatAnswer } from '../chat/answer.ts'
import { jsonObjectOf } from '../json/parse-json.ts'
import { moderatedText } from '../moderated-text.ts'
import { STREAM_HEADERS } from '../sse/stream-headers.ts'
import type { TextDialect } from '../text-dialect.ts'
import { messagesRefusal } from './errors.ts'
import { messageOf } from './message.ts'
import { messageEvents, messageJson } from './reply.ts'
import { chatRequestOf, readMessagesRequest, type MessagesRequest } from './request.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }

/** `POST /v1/messages`: an upstream is asked for chat, and its finished answer becomes a message, or the events of one. */
export const messagesDialect = {
  route: 'messages',
  upstreamRoute: 'chat',
  serves: 'chat',
  readRequest: readMessagesRequest,
  // Of what the upstream is sent, and of nothing that is left behind.
  moderatedText: ({ chatJson }) => moderatedText(jsonObjectOf(chatJson)),
  forUpstream: (request, model, { maxTokensField }) => chatRequestOf(request, { model, maxTokensField }),
  readAnswer: readChatAnswer,
  forClient({ completion }, receipt, { isStream }) {
    const message = messageOf(completion, () => formatId('req', receipt.id))
    return isStream ? messageEvents(message, receipt) : messageJson(message, receipt)
  },
  headersOf: ({ isStream }) => (isStream ? STREAM_HEADERS : JSON_HEADERS),
  refusalOf: messagesRefusal,
} as const satisfies TextDialect<MessagesRequest, ChatAnswer>
