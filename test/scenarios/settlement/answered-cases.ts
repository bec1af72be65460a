import { answer, chatAnswer, json } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { alike, AN_ESTIMATE, THE_WORST_CASE, USUAL, type SettlementCase } from './settlement-case.ts'

const usage = (counts: Readonly<Record<string, unknown>>) => chatAnswer({ usage: counts })

const answered: readonly SettlementCase[] = [
  { row: 'An answer with its usage', title: 'an answer with its usage', told: USUAL },
  {
    row: 'An answer with its usage',
    title: 'cached, audio and reasoning tokens inside the totals',
    model: 'buckets',
    reply: usage({
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 10 },
    }),
    told: '0.00218',
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
    row: 'An answer with its usage',
    title: 'cache counts beside the input',
    model: 'buckets',
    reply: usage({
      input_tokens: 10,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
      output_tokens: 5,
    }),
    told: '0.00116',
    usage: { input_tokens: 60, cached_input_tokens: 30, cache_write_tokens: 20, output_tokens: 5 },
  },
  {
    row: 'An answer with its usage',
    title: 'finer buckets of a row that has no price for them, at their parent’s',
    reply: usage({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    told: USUAL,
    usage: { cached_input_tokens: 4, reasoning_tokens: 2 },
  },
  {
    row: 'An answer with its usage',
    title: 'a fraction of a billionth, rounded up once',
    model: 'tiny',
    told: '0.000000002',
  },
  {
    row: 'An answer with its usage',
    title: 'more input than was estimated, beyond what was held',
    reply: usage({ prompt_tokens: 50_000, completion_tokens: 5 }),
    request: { max_tokens: 5 },
    told: '0.10005',
  },
  {
    row: 'An answer with its usage',
    title: 'an answer with a status of success that is not 200',
    reply: json(
      { choices: [{ message: { content: 'Hi' } }], usage: { prompt_tokens: 10, completion_tokens: 5 } },
      { status: 201 },
    ),
    told: USUAL,
  },
  {
    row: 'An answer that was cut short',
    title: 'an answer cut by the output ceiling',
    reply: cutBy('length'),
    told: USUAL,
  },
  {
    row: 'An answer that was cut short',
    title: 'an answer blocked by policy',
    reply: cutBy('content_filter'),
    told: USUAL,
  },
  { row: 'An empty answer', title: 'an answer of nothing', reply: chatAnswer({ content: '' }), told: USUAL },
  {
    row: 'A usage of zeros',
    title: 'zeros',
    reply: usage({ prompt_tokens: 0, completion_tokens: 0 }),
    told: '0',
  },
  {
    row: 'A usage of zeros',
    title: 'zeros on a row with a price per request',
    model: 'plain',
    reply: usage({ prompt_tokens: 0, completion_tokens: 0 }),
    told: '0.001',
  },
]

function cutBy(reason: string): Reply {
  const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: reason }]
  return json({ choices, usage: { prompt_tokens: 10, completion_tokens: 5 } })
}

const unreported = alike(
  { row: 'An answer without a usage', told: null, charged: AN_ESTIMATE, source: 'estimated' },
  [
    { title: 'no usage', reply: chatAnswer({ usage: null }) },
    { title: 'a usage of null', reply: json({ choices: [{ message: { content: 'Hello.' } }], usage: null }) },
    { title: 'a usage that is empty', reply: usage({}) },
    {
      title: 'a usage that is no object',
      reply: json({ choices: [{ message: { content: 'Hi' } }], usage: 15 }),
    },
    { title: 'a usage that names nothing but a cost', reply: usage({ cost_usd: '0.5' }) },
  ],
)

const overestimated: SettlementCase = {
  row: 'An estimate above the worst case',
  title: 'a long answer that no usage comes with, under a low ceiling',
  request: { max_tokens: 1 },
  reply: chatAnswer({ content: 'one two three four five six seven eight nine ten '.repeat(20), usage: null }),
  told: null,
  charged: AN_ESTIMATE,
  source: 'estimated',
  usage: { output_tokens: 1 },
}

const clamped = alike({ row: 'A usage that cannot be', isClamped: true }, [
  {
    title: 'a count below zero',
    reply: usage({ prompt_tokens: -10, completion_tokens: 5 }),
    told: '0.00005',
  },
  {
    title: 'a count with a fraction',
    reply: usage({ prompt_tokens: 10, completion_tokens: 5.5 }),
    told: '0.00002',
  },
  {
    title: 'a count in quotes',
    reply: usage({ prompt_tokens: '10', completion_tokens: 5 }),
    told: '0.00005',
  },
  {
    title: 'more input than the context window',
    reply: usage({ prompt_tokens: 1e9, completion_tokens: 0 }),
    told: '0.2',
  },
  {
    title: 'more output than the row’s ceiling',
    reply: usage({ prompt_tokens: 0, completion_tokens: 1e9 }),
    told: '0.01',
  },
  {
    title: 'more output than the ceilings of all choices',
    reply: usage({ prompt_tokens: 0, completion_tokens: 1e9 }),
    request: { n: 3 },
    told: '0.03',
  },
  {
    title: 'more cached tokens than tokens',
    reply: usage({ prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 99 } }),
    told: '0.00002',
  },
])

const costed = (cost: unknown, counts = { prompt_tokens: 10, completion_tokens: 5 }) =>
  usage({ ...counts, cost })
const REPORTED = 'An answer at the upstream’s own cost'
const UNREPORTED = 'An answer whose upstream did not report its cost'

const upstreamCost: readonly SettlementCase[] = [
  {
    row: REPORTED,
    title: 'a cost in the usage, times the markup',
    model: 'resold',
    reply: costed(0.001),
    told: '0.0012',
  },
  { row: REPORTED, title: 'a cost in quotes', model: 'resold', reply: costed('0.001'), told: '0.0012' },
  {
    row: REPORTED,
    title: 'a cost finer than a billionth, rounded up',
    model: 'resold',
    reply: answer(
      '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":1.00000000000000001e-3}}',
    ),
    told: '0.001200002',
  },
  { row: REPORTED, title: 'a cost of zero', model: 'resold', reply: costed(0), told: '0' },
  {
    row: REPORTED,
    title: 'a cost in the header, before the one in the usage',
    model: 'resold-by-header',
    reply: chatAnswer({
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 9 },
      headers: { 'x-cost-usd': '0.002' },
    }),
    told: '0.0024',
  },
  {
    row: REPORTED,
    title: 'a cost in the header of an answer without a usage',
    model: 'resold-by-header',
    reply: json(
      { choices: [{ message: { content: 'Hello.' } }], usage: {} },
      { headers: { 'x-cost-usd': '0.002' } },
    ),
    told: '0.0024',
    source: 'estimated',
  },
  {
    row: REPORTED,
    title: 'a cost above the ceiling, cut to what was held',
    model: 'resold',
    reply: costed(1000),
    told: THE_WORST_CASE,
    isClamped: true,
  },
  {
    row: REPORTED,
    title: 'a cost below zero',
    model: 'resold',
    reply: costed(-1),
    told: '0',
    isClamped: true,
  },
  { row: UNREPORTED, title: 'no cost', model: 'resold', told: null, charged: '0' },
  {
    row: UNREPORTED,
    title: 'a cost that is no number',
    model: 'resold',
    reply: costed('free'),
    told: null,
    charged: '0',
  },
  { row: UNREPORTED, title: 'a header without it', model: 'resold-by-header', told: null, charged: '0' },
  { row: 'An answer of a free row', title: 'a free row', model: 'gift', told: '0' },
  {
    row: 'An answer of a free row',
    title: 'a free row on an empty balance',
    model: 'gift',
    grant: '0',
    told: '0',
  },
]

/** The upstream answered, and its answer went to the client. */
export const answeredCases: readonly SettlementCase[] = [
  ...answered,
  ...unreported,
  overestimated,
  ...clamped,
  ...upstreamCost,
]
