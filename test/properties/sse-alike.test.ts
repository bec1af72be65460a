import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Bytes } from '../../src/domain/bytes.ts'
import { readChunk } from '../../src/protocol/chat-stream/chunk.ts'
import { ChatMeter } from '../../src/protocol/chat-stream/meter.ts'
import { readFrame } from '../../src/protocol/sse/frame.ts'
import { FrameSplitter } from '../../src/protocol/sse/frame-splitter.ts'
import { runStream } from '../support/chat-stream-run.ts'
import { readsOf } from './sse-streams.ts'

const NO_LIMITS = { inputTokensMax: undefined, outputTokensMax: undefined }
const encoder = new TextEncoder()

/** Valid and invalid contents of a JSON string. */
const anyStringBody = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('a', ' the', '', 'é', '世界', '🙂', ',"x":"y"', '{', '}') },
      {
        weight: 3,
        arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', '\\u00e9', '\\ud83d', '\\ude42', '\uFEFF'),
      },
      { weight: 1, arbitrary: fc.constantFrom('\\x', '\\', '"', '\t', '\u0000', '\\u12', '\n') },
    ),
    { maxLength: 4 },
  )
  .map(parts => parts.join(''))

/** A delta in each style, with a string that differs between the frames of a stream. */
const deltas: readonly ((body: string) => string)[] = [
  body => `{"content":"${body}"}`,
  body => `{"role":"assistant","content":"${body}","refusal":null}`,
  body => `{"content":null,"reasoning_content":"${body}"}`,
  body => `{"reasoning_content":"","reasoning":"${body}"}`,
  body => `{"content":"${body}","reasoning":"${body}"}`,
  body => `{"content":"a","content":"${body}"}`,
  body => `{"refusal":"${body}"}`,
  body => `{"tool_calls":[{"index":0,"function":{"arguments":"${body}"}}]}`,
  body => `{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"${body}"}}]}`,
  body => `{"tool_calls":["{",{"function":{"arguments":"${body}"}}]}`,
  body => `{"content":[{"text":"${body}"}]}`,
  body => `{"content":"x","audio":{"data":"${body}"}}`,
]

/** A chunk in each style with a delta and a padding. */
const chunks: readonly ((delta: string, padding: string) => string)[] = [
  (delta, padding) =>
    `data: {"id":"c1","model":"up-1","choices":[{"index":0,"delta":${delta},"finish_reason":null}],"usage":null,"obfuscation":"${padding}"}\n\n`,
  delta =>
    `data: {"choices":[{"delta":${delta},"index":1,"content_filter_results":{}}],"created":1,"model":"up-1"}\n\n`,
  (delta, padding) => `data: {"choices":[{"delta":${delta}}],"model":"up-1","p":"${padding}"}\n\n`,
  (delta, padding) => `data:{"p":"${padding}","choices":[ {"index":0,"delta":${delta}} ]}\n\n`,
  delta => `data: {"model":"up-1","model":"up-2","choices":[{"index":0,"delta":${delta}}]}\n\n`,
  delta => `data: {"model":"row","choices":[{"index":0,"delta":${delta}}]}\n\n`,
  delta => `data: {"model":"up-1","choices":[{"index":0,"delta":${delta},"usage":{"prompt_tokens":3}}]}\n\n`,
  delta => `data: {"model":"up-1","choices":[{"index":0,"delta":${delta}},{"index":1,"delta":{}}]}\n\n`,
  delta => `data: {"model":"up-1","choices":[1,{"index":0,"delta":${delta}}]}\n\n`,
  delta => `data: {"model":"up-1","choices":["{",{"index":0,"delta":${delta}}]}\n\n`,
  (delta, padding) => `data: {"x":"é","model":"up-1","choices":[{"delta":${delta}}],"p":"${padding}"}\n\n`,
  (delta, padding) => `data: {"choices":[{"delta":${delta}}],"model":"${padding}"}\n\n`,
  (delta, padding) => `data: {"choices":[{"delta":${delta}}],"error":"${padding}"}\n\n`,
  delta => `data: {"model":"up-1","usage":{"prompt_tokens":5},"choices":[{"delta":${delta}}]}\n\n`,
  delta => `event: x\ndata: {"model":"up-1","choices":[{"delta":${delta}}]}\n\n`,
  delta => `data: {"model":"up-1",\ndata: "choices":[{"delta":${delta}}]}\n\n`,
  delta => `data: {"model":"up-1","choices":[{"delta":${delta}}]}\r\n\r\n`,
]

/** Other frames in a stream. */
const others = [
  ': ping\n\n',
  '\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"model":"up-1"}\n\n',
  'data: {"choices":[],"model":"up-1","usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
  'data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":7}}\n\n',
]

const aFrame = fc.record({
  body: anyStringBody,
  padding: fc.constantFrom('k3X', '', 'Zq', 'é', '\\n', '\\x', '"', 'row'),
  closing: fc.constantFrom('}\n\n', '}\n\n', ']\n\n'),
  before: fc.constantFrom('', '', '', '\uFEFF', ' ', ...others),
})

/** Frames of one style, with some other frames between them. */
const someAlike = fc
  .record({
    delta: fc.constantFrom(...deltas),
    chunk: fc.constantFrom(...chunks),
    frames: fc.array(aFrame, { minLength: 1, maxLength: 6 }),
  })
  .map(({ delta, chunk, frames }) =>
    frames.map(
      ({ body, padding, closing, before }) =>
        before + chunk(delta(body), padding).replace(/\}\n\n$/, closing),
    ),
  )

const anyFrames = fc.array(someAlike, { minLength: 1, maxLength: 4 }).map(runs => runs.flat())

/** Replaces some bytes with invalid UTF-8. */
function garbled(frame: string, byte: number): Bytes {
  return encoder.encode(frame).map(was => (was === 0xc3 ? byte : was))
}

/** A stream with `include_usage` ends with a `[DONE]` that these frames do not have. */
function withoutDone(bytes: Uint8Array): Buffer {
  const done = Buffer.from('data: [DONE]\n\n')
  const text = Buffer.from(bytes)
  return text.subarray(-done.length).equals(done) ? text.subarray(0, -done.length) : text
}

test('the output for a frame of a chat stream does not depend on the similar frames before it', () => {
  fc.assert(
    fc.property(
      anyFrames,
      fc.array(fc.constantFrom(0xc3, 0xff, 0xfe)),
      fc.constantFrom(null, 'row'),
      (frames, garbling, rewriteModel) => {
        const sent = frames.map((frame, at) => garbled(frame, garbling[at] ?? 0xc3))

        const bytesOf = (frames: typeof sent) => withoutDone(runStream(frames, { rewriteModel }).bytes)

        expect(bytesOf(sent)).toEqual(Buffer.concat(sent.map(frame => bytesOf([frame]))))
      },
    ),
    { numRuns: 2000 },
  )
})

test('the meter reads the same from similar frames as from parsing each of them', () => {
  fc.assert(
    fc.property(
      anyFrames.chain(frames => fc.tuple(fc.constant(frames), readsOf(frames.join('')))),
      fc.integer({ min: 1, max: 3 }),
      ([frames, reads], choices) => {
        const { reading } = runStream(reads, { choices })

        const meter = new ChatMeter(choices, NO_LIMITS)
        for (const { bytes: frame } of new FrameSplitter().split(encoder.encode(frames.join('')))) {
          const { data } = readFrame(frame)
          const chunk = data === undefined ? undefined : readChunk(data)
          if (chunk !== undefined) meter.take(chunk, frame)
        }
        const expected = meter.reading()
        expect(reading).toEqual({ ...expected, texts: expected.texts() })
      },
    ),
    { numRuns: 2000 },
  )
})
