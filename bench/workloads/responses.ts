import { aroundNumber, MODEL, UPSTREAM_MODEL, type Workload } from './workload.ts'

const INSTRUCTIONS = `You are a careful assistant for developers. Answer in plain sentences, name the function or the flag \
that matters, and say so when you are not sure. Prefer the standard library to a package. Show code only when it is shorter \
than the sentence that would explain it. Never invent an option: if a tool cannot do what was asked, say what it can do.`

const INPUT = [
  { role: 'user', content: 'How do I read a file line by line without loading all of it?' },
  { role: 'assistant', content: 'Open it as a stream and iterate over the lines as they arrive.' },
  {
    role: 'user',
    content: [
      {
        type: 'input_text',
        text: 'This is question number {number}. Which errors should I expect on the way?',
      },
    ],
  },
]

const BODY = aroundNumber(
  JSON.stringify({
    model: MODEL,
    instructions: INSTRUCTIONS,
    input: INPUT,
    max_output_tokens: 400,
    store: false,
  }),
)

const ANSWER = JSON.stringify({
  id: 'resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b',
  object: 'response',
  created_at: 1767225600,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: INSTRUCTIONS,
  max_output_tokens: 400,
  model: UPSTREAM_MODEL,
  output: [
    {
      id: 'msg_68af40337e58819392e935fb404414d005438e46b5f69a3b',
      type: 'message',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          annotations: [],
          logprobs: [],
          text: `Three kinds. Opening can fail: the file is missing, is a directory, or you may not read it. Reading can \
fail later, when a disk or a network share goes away, so handle errors of the stream and not only of the call that opened \
it. And the content can surprise you: a last line without a newline, a very long line, or bytes that are not valid UTF-8.`,
        },
      ],
      role: 'assistant',
    },
  ],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 193,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 84,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 277,
  },
  user: null,
  metadata: {},
})

/** The conversation of `chat` on the Responses route, whose answers repeat the request: about 2 KB. */
export const responses: Workload = {
  name: 'responses',
  path: '/v1/responses',
  model: MODEL,
  body: BODY,
  answer: ANSWER,
}
