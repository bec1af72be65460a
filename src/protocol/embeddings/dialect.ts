import {
  answerForClient,
  requestForUpstream,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import type { TextDialect } from '../text-dialect.ts'
import { readEmbeddingsAnswer } from './answer.ts'
import { readEmbeddingsRequest } from './request.ts'

/** `POST /v1/embeddings`. */
export const embeddingsDialect = {
  route: 'embeddings',
  upstreamRoute: 'embeddings',
  serves: 'embedding',
  readRequest: readEmbeddingsRequest,
  forUpstream: requestForUpstream,
  readAnswer: readEmbeddingsAnswer,
  forClient: answerForClient,
} as const satisfies TextDialect<PassThroughRequest, PassThroughAnswer>
