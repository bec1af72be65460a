import { formatId } from '../../domain/ids.ts'
import { readChatAnswer, type ChatAnswer } from '../chat/answer.ts'
import { jsonObjectOf } from '../json/parse-json.ts'
import { moderatedText } from '../moderated-text.ts'
import type { TextDialect } from '../text-dialect.ts'
import { messageOf } from './message.ts'
import { messageEvents, messageJson } from './reply.ts'
import { chatRequestOf, readMessagesRequest, type MessagesRequest } from './request.ts'

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
} as const satisfies TextDialect<MessagesRequest, ChatAnswer>
