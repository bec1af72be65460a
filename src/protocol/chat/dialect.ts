import { answerForClient, moderatedTextOf, requestForUpstream } from '../pass-through.ts'
import { ChatStream } from '../chat-stream/chat-stream.ts'
import type { StreamDialect } from '../text-dialect.ts'
import { readChatAnswer, type ChatAnswer } from './answer.ts'
import { readChatRequest, type ChatRequest } from './request.ts'

/** `POST /v1/chat/completions`. */
export const chatDialect = {
  route: 'chat',
  upstreamRoute: 'chat',
  serves: 'chat',
  readRequest: readChatRequest,
  moderatedText: moderatedTextOf,
  forUpstream: requestForUpstream,
  readAnswer: readChatAnswer,
  forClient: answerForClient,
  openStream: ({ choices, includeUsage }, { model, limits, secrets }) =>
    // Without `include_usage`, the stream is relayed byte for byte.
    new ChatStream({
      choices,
      limits,
      rewriteModel: includeUsage ? model : null,
      ...(secrets && { secrets }),
    }),
} as const satisfies StreamDialect<ChatRequest, ChatAnswer>
