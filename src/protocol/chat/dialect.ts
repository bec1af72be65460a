import type { TextDialect } from '../text-dialect.ts'
import { chatAnswerForClient, readChatAnswer, type ChatAnswer } from './answer.ts'
import { chatRequestForUpstream, readChatRequest, type ChatRequest } from './request.ts'

/** `POST /v1/chat/completions`, without its streams. */
export const chatDialect: TextDialect<ChatRequest, ChatAnswer> = {
  route: 'chat',
  serves: 'chat',
  readRequest: readChatRequest,
  forUpstream: chatRequestForUpstream,
  readAnswer: readChatAnswer,
  forClient: chatAnswerForClient,
}
