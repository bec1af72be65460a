import { startUpstream as startServer, type Upstream } from '../../src/http1/testing/upstream.ts'
import { chatAnswer } from './upstream-replies.ts'

export { refusedUrl, type Exchange, type Reply, type Upstream } from '../../src/http1/testing/upstream.ts'

/** A fake provider. Until the test sets other replies, it replies with a chat completion. */
export function startUpstream(): Upstream {
  return startServer(chatAnswer())
}
