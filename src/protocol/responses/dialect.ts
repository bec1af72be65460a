import {
  answerForClient,
  requestForUpstream,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import type { TextDialect } from '../text-dialect.ts'
import { readResponsesAnswer } from './answer.ts'
import { readResponsesRequest } from './request.ts'

/** `POST /v1/responses`, without its streams. */
export const responsesDialect: TextDialect<PassThroughRequest, PassThroughAnswer> = {
  route: 'responses',
  serves: 'chat',
  readRequest: readResponsesRequest,
  forUpstream: requestForUpstream,
  readAnswer: readResponsesAnswer,
  forClient: answerForClient,
}
