import { HttpError } from '../server/http-error.ts'
import { startServer, type RunningServer } from '../server/server.ts'
import type { ServerRequest } from '../server/server-request.ts'
import type { ServerResponse } from '../server/response-writer.ts'
import { fakeClock, type FakeClock } from './fake-clock.ts'

export type TestServer = RunningServer & {
  readonly clock: FakeClock
  /** The errors that handlers threw, and the errors of refused requests and connections. */
  readonly errors: readonly Error[]
  /** How many requests have ended. */
  readonly ended: number
}

/** A server whose handler returns responses. An `HttpError` becomes a response with status 500 and its code. */
export function startTestServer(
  handle: (request: ServerRequest) => Promise<ServerResponse>,
  options: { readonly connectionsMax?: number } = {},
): TestServer {
  const clock = fakeClock()
  const errors: Error[] = []
  let ended = 0
  const answer = async (request: ServerRequest, response: Promise<ServerResponse>) => {
    try {
      request.respond(await response)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      errors.push(error)
      request.respond({ status: 500, headers: {}, body: error.code })
    } finally {
      ended += 1
    }
  }
  const server = startServer({
    host: '127.0.0.1',
    port: 0,
    clock,
    onHandlerError: error => errors.push(error as Error),
    handler: {
      handle: request => answer(request, handle(request)),
      refuse: (request, error) => answer(request, Promise.reject(error)),
    },
    ...options,
  })
  return {
    ...server,
    clock,
    errors,
    get ended() {
      return ended
    },
  }
}
