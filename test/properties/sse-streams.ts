import fc from 'fast-check'
import type { Bytes } from '../../src/domain/bytes.ts'

/** Splits bytes into reads of any length, even inside lines, line ends and characters. */
export function readsOf(text: string): fc.Arbitrary<Bytes[]> {
  const bytes = new TextEncoder().encode(text)
  return fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: 12 }).map(positions => {
    const cuts = [0, ...positions.sort((left, right) => left - right), bytes.length]
    return cuts.slice(1).map((cut, index) => bytes.slice(cuts[index], cut))
  })
}

const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r')

type ReportedCounts = { readonly prompt_tokens: number; readonly completion_tokens: number }

/** Frames that upstreams send or might send in chat streams, with MODEL for the model's name. */
export type AnyFrame = {
  readonly text: string
  readonly usage: ReportedCounts | undefined
}

export const MODEL = 'MODEL'

const usage = fc.record({
  prompt_tokens: fc.nat({ max: 10_000_000 }),
  completion_tokens: fc.nat({ max: 10_000_000 }),
})

const chunk = fc
  .record({
    content: fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constant('🙂é')),
    index: fc.nat({ max: 2 }),
    finish: fc.constantFrom(null, null, null, 'stop'),
    usage: fc.option(usage, { nil: undefined, freq: 4 }),
    hasChoices: fc.boolean(),
    space: fc.constantFrom('', ' '),
    end: lineEnd,
    modelFirst: fc.boolean(),
  })
  .map(({ content, index, finish, usage, hasChoices, space, end, modelFirst }): AnyFrame => {
    const choice = { index, delta: { content }, finish_reason: finish }
    const members = [
      `"choices":${space}${JSON.stringify(hasChoices ? [choice] : [])}`,
      ...(usage === undefined ? [] : [`"usage":${JSON.stringify(usage)}`]),
    ]
    const model = `"model":${space}"${MODEL}"`
    const json = modelFirst ? [model, ...members] : [...members, model]
    return { text: `data:${space}{${json.join(`,${space}`)}}${end}${end}`, usage }
  })

const splitChunk = fc.tuple(lineEnd, lineEnd).map(([inner, end]): AnyFrame => ({
  text: `id: 7${inner}data: {"model":${inner}data:"${MODEL}",${inner}: hi${inner}data: "choices":[]}${end}${end}`,
  usage: undefined,
}))

const noise = fc.constantFrom(
  ': ping\n\n',
  ': ping\r\n',
  ':\n',
  '\n',
  'event: ping\n\n',
  'data: nothing\n\n',
  'data: 1\n\n',
  'retry: 5\n\n',
)

export const anyFrame: fc.Arbitrary<AnyFrame> = fc.oneof(
  { weight: 6, arbitrary: chunk },
  { weight: 1, arbitrary: splitChunk },
  { weight: 1, arbitrary: noise.map(text => ({ text, usage: undefined })) },
)

/** Ends of a stream: with or without `[DONE]`, and with or without a blank line after the last frame. */
export const anyEnd = fc.constantFrom(
  '',
  'data: [DONE]\n\n',
  'data:[DONE]\r\n\r\n',
  'data: [DONE]',
  'data: [DONE]\n\n: bye\n',
)
