/** The chat completions request that a messages request is converted to, without its model and output ceiling. */
export type ChatBody = {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly tool_choice?: ChatToolChoice
  readonly parallel_tool_calls?: false
  readonly response_format?:
    | {
        readonly type: 'json_schema'
        readonly json_schema: { readonly name: string; readonly schema: object; readonly strict: true }
      }
    | undefined
  readonly stop?: readonly string[]
  readonly temperature?: unknown
  readonly top_p?: unknown
  readonly metadata?: unknown
}

export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | {
      readonly role: 'assistant'
      /** Null when the turn has only calls. */
      readonly content: string | null
      readonly tool_calls?: readonly ChatToolCall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | {
      readonly type: 'file'
      /** `file_data` is a data URL. */
      readonly file: { readonly filename: string; readonly file_data: string }
    }

export type ChatToolCall = {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON text. */
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatTool = {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description?: string; readonly parameters: object }
}

export type ChatToolChoice =
  | 'auto'
  | 'required'
  | 'none'
  | { readonly type: 'function'; readonly function: { readonly name: string } }
