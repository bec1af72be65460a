import type { StreamDialect } from '../text-dialect.ts'
import {
  answerForClient,
  moderatedTextOf,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import { readMessage } from './answer.ts'
import { NativeMessagesStream } from './native-messages-stream.ts'
import { nativeRequestFor, readNativeRequest } from './request.ts'

/**
 * `POST /v1/messages` for models with an upstream that offers the route itself. The body passes through, except for the
 * model's name and a missing `max_tokens`. An answer passes through with the model's name and the cost.
 */
export const nativeMessagesDialect = {
  route: 'messages',
  upstreamRoute: 'messages',
  serves: 'chat',
  readRequest: readNativeRequest,
  moderatedText: moderatedTextOf,
  forUpstream: (request, model, _provider, row) => nativeRequestFor(request, model, row),
  readAnswer: readMessage,
  forClient: answerForClient,
  openStream: (_request, terms) => new NativeMessagesStream(terms),
} as const satisfies StreamDialect<PassThroughRequest, PassThroughAnswer>
