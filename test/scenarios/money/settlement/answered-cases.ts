import { answer, chatAnswer, json } from '../../../support/upstream-replies.ts'
import type { Reply } from '../../../support/upstream.ts'
import { alike, AN_ESTIMATE, THE_WORST_CASE, USUAL, type SettlementCase } from './settlement-case.ts'

const usage = (counts: Readonly<Record<string, unknown>>) => chatAnswer({ usage: counts })

const answered: readonly SettlementCase[] = [
  { row: 'Answer with usage', title: 'an answer with usage', costInReply: USUAL },
  {
    row: 'Answer with usage',
    title: 'cached, audio and reasoning tokens inside the totals',
    model: 'buckets',
    reply: usage({
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 10 },
    }),
    costInReply: '0.00218',
    usage: {
      input_tokens: 100,
      output_tokens: 50,
      cached_input_tokens: 40,
      audio_input_tokens: 10,
      reasoning_tokens: 20,
      audio_output_tokens: 10,
    },
  },
  {
    row: 'Answer with usage',
    title: 'cached tokens outside the input total',
    model: 'buckets',
    reply: usage({
      input_tokens: 10,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
      output_tokens: 5,
    }),
    costInReply: '0.00116',
    usage: { input_tokens: 60, cached_input_tokens: 30, cache_write_tokens: 20, output_tokens: 5 },
  },
  {
    row: 'Answer with usage',
    title: 'buckets without their own price, at the price of input or output',
    reply: usage({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    costInReply: USUAL,
    usage: { cached_input_tokens: 4, reasoning_tokens: 2 },
  },
  {
    row: 'Answer with usage',
    title: 'a fraction of a nano-USD, rounded up once',
    model: 'tiny',
    costInReply: '0.000000002',
  },
  {
    row: 'Answer with usage',
    title: 'more input than was estimated, above the hold',
    reply: usage({ prompt_tokens: 50_000, completion_tokens: 5 }),
    request: { max_tokens: 5 },
    costInReply: '0.10005',
  },
  {
    row: 'Answer with usage',
    title: 'an answer with another 2xx status',
    reply: json(
      { choices: [{ message: { content: 'Hi' } }], usage: { prompt_tokens: 10, completion_tokens: 5 } },
      { status: 201 },
    ),
    costInReply: USUAL,
  },
  {
    row: 'Answer cut short',
    title: 'an answer cut by the output ceiling',
    reply: cutBy('length'),
    costInReply: USUAL,
  },
  {
    row: 'Answer cut short',
    title: 'an answer blocked by the content filter',
    reply: cutBy('content_filter'),
    costInReply: USUAL,
  },
  {
    row: 'Empty answer',
    title: 'an answer without content',
    reply: chatAnswer({ content: '' }),
    costInReply: USUAL,
  },
  {
    row: 'Usage of zero',
    title: 'zero tokens',
    reply: usage({ prompt_tokens: 0, completion_tokens: 0 }),
    costInReply: '0',
  },
  {
    row: 'Usage of zero',
    title: 'zero tokens, with a price per request',
    model: 'plain',
    reply: usage({ prompt_tokens: 0, completion_tokens: 0 }),
    costInReply: '0.001',
  },
]

function cutBy(reason: string): Reply {
  const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: reason }]
  return json({ choices, usage: { prompt_tokens: 10, completion_tokens: 5 } })
}

const unreported = alike(
  { row: 'Answer without usage', costInReply: null, charged: AN_ESTIMATE, source: 'estimated' },
  [
    { title: 'no usage member', reply: chatAnswer({ usage: null }) },
    { title: 'a usage of null', reply: json({ choices: [{ message: { content: 'Hello.' } }], usage: null }) },
    { title: 'an empty usage', reply: usage({}) },
    {
      title: 'a usage that is not an object',
      reply: json({ choices: [{ message: { content: 'Hi' } }], usage: 15 }),
    },
    { title: 'a usage with only a cost', reply: usage({ cost_usd: '0.5' }) },
  ],
)

const overestimated: SettlementCase = {
  row: 'Estimate above the worst case',
  title: 'a long answer without usage, under a low output ceiling',
  request: { max_tokens: 1 },
  reply: chatAnswer({ content: 'one two three four five six seven eight nine ten '.repeat(20), usage: null }),
  costInReply: null,
  charged: AN_ESTIMATE,
  source: 'estimated',
  usage: { output_tokens: 1 },
}

const clamped = alike({ row: 'Impossible usage', isClamped: true }, [
  {
    title: 'a negative count',
    reply: usage({ prompt_tokens: -10, completion_tokens: 5 }),
    costInReply: '0.00005',
  },
  {
    title: 'a fractional count',
    reply: usage({ prompt_tokens: 10, completion_tokens: 5.5 }),
    costInReply: '0.00002',
  },
  {
    title: 'a count in a string',
    reply: usage({ prompt_tokens: '10', completion_tokens: 5 }),
    costInReply: '0.00005',
  },
  {
    title: 'more input than the context window',
    reply: usage({ prompt_tokens: 1e9, completion_tokens: 0 }),
    costInReply: '0.2',
  },
  {
    title: 'more output than the max_output_tokens of the model',
    reply: usage({ prompt_tokens: 0, completion_tokens: 1e9 }),
    costInReply: '0.01',
  },
  {
    title: 'more output than the output ceiling of all choices',
    reply: usage({ prompt_tokens: 0, completion_tokens: 1e9 }),
    request: { n: 3 },
    costInReply: '0.03',
  },
  {
    title: 'more cached tokens than the context window leaves',
    reply: usage({
      prompt_tokens: 99_990,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 99_999 },
    }),
    costInReply: '0.2',
  },
])

const costed = (cost: unknown, counts = { prompt_tokens: 10, completion_tokens: 5 }) =>
  usage({ ...counts, cost })
const REPORTED = 'Price is the provider’s own cost'
const UNREPORTED = 'Provider’s own cost not reported'

const upstreamCost: readonly SettlementCase[] = [
  {
    row: REPORTED,
    title: 'a cost in the usage, times the markup',
    model: 'resold',
    reply: costed(0.001),
    costInReply: '0.0012',
  },
  {
    row: REPORTED,
    title: 'a cost in a string',
    model: 'resold',
    reply: costed('0.001'),
    costInReply: '0.0012',
  },
  {
    row: REPORTED,
    title: 'a cost with a fraction of a nano-USD, rounded up once, after the markup',
    model: 'resold',
    reply: answer(
      '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":1.00000000000000001e-3}}',
    ),
    costInReply: '0.001200001',
  },
  { row: REPORTED, title: 'a cost of zero', model: 'resold', reply: costed(0), costInReply: '0' },
  {
    row: REPORTED,
    title: 'a cost in the header, preferred to the one in the usage',
    model: 'resold-by-header',
    reply: chatAnswer({
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 9 },
      headers: { 'x-cost-usd': '0.002' },
    }),
    costInReply: '0.0024',
  },
  {
    row: REPORTED,
    title: 'a cost in the header of an answer without usage',
    model: 'resold-by-header',
    reply: json(
      { choices: [{ message: { content: 'Hello.' } }], usage: {} },
      { headers: { 'x-cost-usd': '0.002' } },
    ),
    costInReply: '0.0024',
    source: 'estimated',
  },
  {
    row: REPORTED,
    title: 'a cost above the hold, clamped to the hold',
    model: 'resold',
    reply: costed(1000),
    costInReply: THE_WORST_CASE,
    isClamped: true,
  },
  {
    row: REPORTED,
    title: 'a negative cost',
    model: 'resold',
    reply: costed(-1),
    costInReply: '0',
    isClamped: true,
  },
  { row: UNREPORTED, title: 'no cost', model: 'resold', costInReply: null, charged: '0' },
  {
    row: UNREPORTED,
    title: 'a cost that is not a number',
    model: 'resold',
    reply: costed('free'),
    costInReply: null,
    charged: '0',
  },
  { row: UNREPORTED, title: 'no cost header', model: 'resold-by-header', costInReply: null, charged: '0' },
  { row: 'Free model', title: 'a free model', model: 'gift', costInReply: '0' },
  {
    row: 'Free model',
    title: 'a free model on an empty balance',
    model: 'gift',
    grant: '0',
    costInReply: '0',
  },
]

/** The upstream answered, and the client got that answer. */
export const answeredCases: readonly SettlementCase[] = [
  ...answered,
  ...unreported,
  overestimated,
  ...clamped,
  ...upstreamCost,
]
