import { answerForClient, moderatedTextOf, requestForUpstream } from '../pass-through.ts'
import { ChatStream } from '../chat-stream/chat-stream.ts'
import type { StreamDialect } from '../text-dialect.ts'
import { withUsageAsked } from './ask-usage.ts'
import { readChatAnswer, type ChatAnswer } from './answer.ts'
import { readChatRequest, type ChatRequest } from './request.ts'

/** `POST /v1/chat/completions`. */
export const chatDialect = {
  route: 'chat',
  upstreamRoute: 'chat',
  serves: 'chat',
  readRequest: readChatRequest,
  moderatedText: moderatedTextOf,
  forUpstream: (request, model, { streamUsage }) => {
    const text = requestForUpstream(request, model)
    return streamUsage === 'ask' && request.isStream && !request.includeUsage ? withUsageAsked(text) : text
  },
  readAnswer: readChatAnswer,
  forClient: answerForClient,
  openStream: ({ choices, includeUsage }, { model, limits, secrets, isUsageAsked = false }) =>
    // Without `include_usage`, the stream is relayed byte for byte, except for a usage that only the gateway asked for.
    new ChatStream({
      choices,
      limits,
      rewriteModel: includeUsage ? model : null,
      hidesUsage: isUsageAsked && !includeUsage,
      ...(secrets && { secrets }),
    }),
} as const satisfies StreamDialect<ChatRequest, ChatAnswer>
