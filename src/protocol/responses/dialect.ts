import {
  answerForClient,
  moderatedTextOf,
  requestForUpstream,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import type { StreamDialect } from '../text-dialect.ts'
import { readResponsesAnswer } from './answer.ts'
import { readResponsesRequest } from './request.ts'
import { ResponsesStream } from './responses-stream.ts'

/** `POST /v1/responses`. */
export const responsesDialect = {
  route: 'responses',
  upstreamRoute: 'responses',
  serves: 'chat',
  readRequest: readResponsesRequest,
  moderatedText: moderatedTextOf,
  forUpstream: requestForUpstream,
  readAnswer: readResponsesAnswer,
  forClient: answerForClient,
  openStream: (_request, terms) => new ResponsesStream(terms),
} as const satisfies StreamDialect<PassThroughRequest, PassThroughAnswer>
