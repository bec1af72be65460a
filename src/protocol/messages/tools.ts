import { isJsonObject } from '../json/parse-json.ts'
import {
  invalidChoice,
  invalidField,
  optionalArray,
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

/** Converts the tool choice to chat's format; undefined when there is none. */
export function toolChoiceOf(choice: unknown): ChatToolChoice | undefined {
  const { type, name } = optionalObject(choice, 'tool_choice') ?? { type: undefined }
  switch (type) {
    case 'auto':
    case 'none':
      return type
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: requiredName(name, 'tool_choice.name') } }
    default:
      if (choice === undefined || choice === null) return undefined
      throw invalidChoice('tool_choice.type', ['auto', 'any', 'tool', 'none'], type)
  }
}
