const ROLES = 'user assistant system developer tool function'
const ITEMS_AND_PARTS =
  'message text image_url image input_audio file refusal thinking tool_use tool_result input_text output_text ' +
  'input_image input_file summary_text reasoning reasoning_text function_call function_call_output item_reference ' +
  'custom custom_tool_call custom_tool_call_output local_shell_call local_shell_call_output web_search_call'
const TOOLS =
  'web_search web_search_preview file_search code_interpreter image_generation mcp namespace local_shell computer_use_preview'
const FORMATS = 'json_object json_schema format schema strict verbosity'
const MEMBERS =
  'type name description parameters arguments content role id tools input_schema properties required items enum const ' +
  'additionalProperties anyOf oneOf allOf not default title examples pattern minimum maximum minLength maxLength ' +
  'minItems maxItems uniqueItems definitions $ref $defs $schema'
const VALUES = 'string number integer boolean object array null'

const words: ReadonlySet<string> = new Set(
  [ROLES, ITEMS_AND_PARTS, TOOLS, FORMATS, MEMBERS, VALUES].join(' ').split(' '),
)

/**
 * Whether a word is a member or type name of the chat, responses and JSON Schema formats. In such a place it is
 * structure, not content.
 */
export function isProtocolKeyword(text: string): boolean {
  return words.has(text)
}
