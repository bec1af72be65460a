import type { ChatAnswer, Choice } from './compose-answer.ts'

/** An answer as one `chat.completion` object. */
export function chatJson(answer: ChatAnswer, model: string, createdS: number): unknown {
  return {
    id: answer.id,
    object: 'chat.completion',
    created: createdS,
    model,
    system_fingerprint: 'sandbox',
    choices: answer.choices.map(choice => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: null,
      finish_reason: choice.finishReason,
    })),
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
  }
}

function messageOf({ text, reasoning, refusal, toolCalls }: Choice) {
  const hasContent = refusal === undefined && toolCalls.length === 0
  return {
    role: 'assistant',
    content: hasContent ? text : null,
    refusal: refusal ?? null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallJson) }),
  }
}

function toolCallJson({ id, name, arguments: text }: Choice['toolCalls'][number]) {
  return { id, type: 'function', function: { name, arguments: text } }
}
