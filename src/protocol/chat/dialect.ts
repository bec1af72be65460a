import { answerForClient, requestForUpstream } from '../pass-through.ts'
import type { TextDialect } from '../text-dialect.ts'
import { readChatAnswer, type ChatAnswer } from './answer.ts'
import { readChatRequest, type ChatRequest } from './request.ts'

/** `POST /v1/chat/completions`, without its streams. */
export const chatDialect: TextDialect<ChatRequest, ChatAnswer> = {
  route: 'chat',
  serves: 'chat',
  readRequest: readChatRequest,
  forUpstream: requestForUpstream,
  readAnswer: readChatAnswer,
  forClient: answerForClient,
}
