/** The media type of a stream of server-sent events. */
export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8'
