type Envelope = { readonly error: { readonly code?: string } }

/**
 * An error envelope as SDKs of the messages dialect read it: they look for a `type` beside `error`, and for the code in
 * `error.details.error_code`, by which some know how to go on.
 */
export function messagesErrorBody<Body extends Envelope>(body: Body) {
  const { error } = body
  const details = error.code === undefined ? {} : { details: { error_code: error.code } }
  return { type: 'error', ...body, error: { ...error, ...details } } as const
}

/** The same of an envelope that is JSON already, such as that of an upstream's refusal. */
export function messagesRefusal(envelope: string): string {
  return JSON.stringify(messagesErrorBody(JSON.parse(envelope) as Envelope))
}

/** What tells a client of the messages dialect that a stream broke. No `message_stop` follows it. */
export function messagesErrorEvent(body: Envelope): string {
  return `event: error\ndata: ${JSON.stringify(messagesErrorBody(body))}\n\n`
}
