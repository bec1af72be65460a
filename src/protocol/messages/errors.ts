type Envelope = {
  readonly error: { readonly message?: string; readonly type?: string; readonly code?: string }
}

/**
 * Converts an error envelope for SDKs of the messages dialect: they need a `type` beside `error`, and some decide what
 * to do by the code in `error.details.error_code`.
 */
export function messagesErrorBody<Body extends Envelope>(body: Body) {
  const { error } = body
  const details = error.code === undefined ? {} : { details: { error_code: error.code } }
  return { type: 'error', ...body, error: { ...error, ...details } } as const
}

/** The event for a messages stream that broke. No `message_stop` follows it. */
export function messagesErrorEvent(body: Envelope): string {
  return `event: error\ndata: ${JSON.stringify(messagesErrorBody(body))}\n\n`
}
