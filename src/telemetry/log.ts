import { isOutage } from '../domain/errors.ts'
import type { Clock } from '../gateway/ports/clock.ts'

/** Fields of a log line. Undefined fields are omitted. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** The members of a JSON object as text, without braces: `"a":1,"b":"x"`. For the line of every request. */
export type LogMembers = string

/** Structured logs: one JSON object a line, `time` in RFC 3339, `level`, `message`, then the fields. */
export type Log = {
  readonly [level in LogLevel]: (message: string, fields?: LogFields | LogMembers) => void
} & {
  /** Whether lines of this level are written. */
  readonly writes: (level: LogLevel) => boolean
  /** Writes the buffered lines. */
  readonly flush: () => void
}

/** Lines are buffered until the deferred flush, or until this many characters. */
const BUFFER_CHARS_MAX = 1 << 16

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const DELETE = 0x7f

/**
 * A log that writes to `write`. It writes many lines at once: a write for each line would cost more than the rest of
 * its work.
 */
export function openLog(options: {
  /** The lowest level to write; `silent` writes nothing. */
  readonly level: LogLevel | 'silent'
  readonly write: (text: string) => void
  /** For the times of the lines. */
  readonly clock: Pick<Clock, 'now'>
  readonly defer: (flush: () => void) => void
}): Log {
  const lowest = options.level === 'silent' ? logLevels.length : logLevels.indexOf(options.level)
  let buffer = ''
  let isDeferred = false

  const flush = () => {
    isDeferred = false
    if (buffer === '') return
    const text = buffer
    buffer = ''
    options.write(text)
  }

  const writes = (level: LogLevel) => logLevels.indexOf(level) >= lowest

  const lineWriter = (level: LogLevel) => {
    if (!writes(level)) return () => undefined
    return (message: string, fields: LogFields | LogMembers = '') => {
      const members = typeof fields === 'string' ? fields : JSON.stringify(fields).slice(1, -1)
      // Concatenated, because copying the fields into one object with these three would cost as much as writing them.
      const head = `{"time":"${logTime(options.clock.now())}","level":"${level}","message":${quoted(message)}`
      buffer += members === '' ? `${head}}\n` : `${head},${members}}\n`
      if (buffer.length >= BUFFER_CHARS_MAX) flush()
      else if (!isDeferred) {
        isDeferred = true
        options.defer(flush)
      }
    }
  }

  return {
    debug: lineWriter('debug'),
    info: lineWriter('info'),
    warn: lineWriter('warn'),
    error: lineWriter('error'),
    writes,
    flush,
  }
}

/** The times of many lines are the same, and making the text costs more than the rest of a short line. */
let lastTime = { atMs: 0, text: new Date(0).toISOString() }

/** A time in RFC 3339, in UTC with milliseconds. */
function logTime(atMs: number): string {
  if (atMs !== lastTime.atMs) lastTime = { atMs, text: new Date(atMs).toISOString() }
  return lastTime.text
}

/** A member after others, such as `,"model":"gpt-x"`. Nothing for an undefined text. */
export function textMember(name: string, text: string | undefined): LogMembers {
  return text === undefined ? '' : `,"${name}":${quoted(text)}`
}

/** The text as a JSON string. Most texts need no escapes, and the loop is faster for them than JSON.stringify. */
export function quoted(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    const isPlain = char >= SPACE && char < DELETE && char !== QUOTE && char !== BACKSLASH
    if (!isPlain) return JSON.stringify(text)
  }
  return `"${text}"`
}

/**
 * The fields of a log line for an error and the chain of its causes. An outage has no stack: its message and causes say
 * what happened, and it is logged again and again.
 */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) }
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(`${cause.name}: ${cause.message}`)
  }
  return {
    error: `${error.name}: ${error.message}`,
    causes: causes.length === 0 ? undefined : causes.join(' ← '),
    stack: isOutage(error) ? undefined : error.stack,
  }
}

/** A few seconds of a busy log. Lines above this are dropped, so that an unread log cannot fill the memory. */
export const WAITING_CHARS_MAX = 8 << 20

/**
 * A `write` for `openLog` that drops lines while too much text waits for a slow reader, and reports their number once
 * there is room. `write` calls `done` when its text has been read.
 */
export function boundedWriter(
  write: (text: string, done: () => void) => void,
  clock: Pick<Clock, 'now'>,
): (text: string) => void {
  let waiting = 0
  let lost = 0
  return text => {
    if (waiting + text.length > WAITING_CHARS_MAX) {
      lost += text.split('\n').length - 1
      return
    }
    const whole = lost === 0 ? text : lossLine(lost, clock.now()) + text
    lost = 0
    waiting += whole.length
    write(whole, () => {
      waiting -= whole.length
    })
  }
}

function lossLine(lost: number, atMs: number): string {
  return `{"time":"${logTime(atMs)}","level":"error","message":"log lines were dropped because the reader was too slow","lines":${lost}}\n`
}
