/** An error envelope as SDKs of the messages dialect read it: they look for the `type` beside `error`. */
export function messagesErrorBody<Body extends { readonly error: object }>(body: Body) {
  return { type: 'error', ...body } as const
}

/** What tells a client of the messages dialect that a stream broke. No `message_stop` follows it. */
export function messagesErrorEvent(body: { readonly error: object }): string {
  return `event: error\ndata: ${JSON.stringify(messagesErrorBody(body))}\n\n`
}
