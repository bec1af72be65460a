import { aroundNumber, MODEL, UPSTREAM_MODEL, type Workload } from './workload.ts'

const SYSTEM = `You are a careful assistant for developers. Answer in plain sentences, name the function or the flag that \
matters, and say so when you are not sure. Prefer the standard library to a package. Show code only when it is shorter than \
the sentence that would explain it. Never invent an option: if a tool cannot do what was asked, say what it can do. Use the \
language of the question. Keep the answer under two hundred words unless the question asks for more.`

const BODY = JSON.stringify({
  model: MODEL,
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: 'How do I read a file line by line without loading all of it?' },
    { role: 'assistant', content: 'Open it as a stream and iterate over the lines as they arrive.' },
    { role: 'user', content: 'This is question number {number}. Which errors should I expect on the way?' },
  ],
  temperature: 0.7,
  max_tokens: 400,
  user: 'customer-7f3a',
})

const ANSWER = JSON.stringify({
  id: 'chatcmpl-BxQ7mZ1fV2kT9sLw4nRj8cHd',
  object: 'chat.completion',
  created: 1767225600,
  model: UPSTREAM_MODEL,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: `Three kinds. Opening can fail: the file is missing, is a directory, or you may not read it. Reading can \
fail later, when a disk or a network share goes away, so handle errors of the stream and not only of the call that opened \
it. And the content can surprise you: a last line without a newline, a very long line, or bytes that are not valid UTF-8.`,
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 193,
    completion_tokens: 84,
    total_tokens: 277,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  },
  service_tier: 'default',
  system_fingerprint: 'fp_4a331a0222',
})

/** A short conversation of about 1 KB with an answer of about 1 KB. A typical request of an assistant. */
export const chat: Workload = {
  name: 'chat',
  path: '/v1/chat/completions',
  model: MODEL,
  body: aroundNumber(BODY),
  answer: ANSWER,
}
