import { isJsonObject } from '../json/parse-json.ts'
import {
  invalidChoice,
  invalidField,
  optionalArray,
  optionalBoolean,
  optionalObject,
  requiredName,
} from '../request-fields.ts'
import type { ChatTool, ChatToolChoice } from './chat-body.ts'

/**
 * Converts the tools to functions. Drops a tool without `input_schema`, which another provider runs on its own servers.
 * Undefined when none is left.
 */
export function functionToolsOf(tools: unknown): readonly ChatTool[] | undefined {
  const functions: ChatTool[] = []
  for (const [index, tool] of (optionalArray(tools, 'tools') ?? []).entries()) {
    const path = `tools.${index}`
    if (!isJsonObject(tool)) throw invalidField(path, 'an object with "name" and "input_schema"', tool)
    const parameters = optionalObject(tool['input_schema'], `${path}.input_schema`)
    if (parameters === undefined) continue
    const name = requiredName(tool['name'], `${path}.name`)
    const description = tool['description']
    functions.push({
      type: 'function',
      function: { name, ...(typeof description === 'string' ? { description } : {}), parameters },
    })
  }
  return functions.length === 0 ? undefined : functions
}

/** A tool choice in chat's format. */
export type ToolChoice = {
  /** Undefined when the request has none. */
  readonly choice: ChatToolChoice | undefined
  /** False when the model may make only one call at a time. */
  readonly isParallel: boolean
}

/**
 * Converts the tool choice of a request with these functions. Throws `invalid_field` if it names another tool, such as
 * one that was dropped: the model could not call it.
 */
export function toolChoiceOf(given: unknown, functions: readonly ChatTool[] = []): ToolChoice {
  const toolChoice = optionalObject(given, 'tool_choice')
  if (toolChoice === undefined) return { choice: undefined, isParallel: true }
  const isSingle = optionalBoolean(
    toolChoice['disable_parallel_tool_use'],
    'tool_choice.disable_parallel_tool_use',
  )
  return { choice: choiceOf(toolChoice, functions), isParallel: isSingle !== true }
}

function choiceOf(
  { type, name: given }: Readonly<Record<string, unknown>>,
  functions: readonly ChatTool[],
): ChatToolChoice {
  switch (type) {
    case 'auto':
    case 'none':
      return type
    case 'any':
      return 'required'
    case 'tool': {
      const name = requiredName(given, 'tool_choice.name')
      if (functions.some(({ function: tool }) => tool.name === name))
        return { type: 'function', function: { name } }
      throw invalidField('tool_choice.name', 'the name of a tool with an "input_schema"', given)
    }
    default:
      throw invalidChoice('tool_choice.type', ['auto', 'any', 'tool', 'none'], type)
  }
}
