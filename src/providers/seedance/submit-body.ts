import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { contentList, otherParams, refusalOf, secondsOf } from '../media/inputs.ts'
import { jsonParts, type Members, type SubmitBody } from '../media/request-bodies.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model',
  'content',
  'prompt',
  'duration',
  'frames',
  'callback_url',
  'execution_expires_after',
  'n',
])

/** The first models take these as commands at the end of the prompt, and have no fields for them. */
const TAKES_COMMANDS = /seedance-1-0/
const COMMAND_FIELDS = ['resolution', 'ratio', 'duration', 'seed', 'camera_fixed', 'watermark'] as const

/**
 * Models from the second version on have fields only. The name of an endpoint, `ep-…`, does not show its model, so the
 * model may read commands.
 */
const READS_NO_COMMANDS = /seedance-[2-9]/

/** The body of a submit, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const refusal = refusalOf(call)
  if (refusal !== undefined) return { refusal }
  const { aspect_ratio: ratio, ...others } = otherParams(call, OWN_FIELDS)
  const fields: Members = { ratio, ...others, duration: secondsOf(call) }
  const prompt = withoutCommands(call)
  if (!TAKES_COMMANDS.test(call.model))
    return jsonParts({ model: call.model, content: contentList({ ...call, prompt }), ...fields })
  const commands = COMMAND_FIELDS.flatMap(name => commandOf(name, fields[name]))
  const rest = Object.entries(fields).filter(
    ([name]) => !(COMMAND_FIELDS as readonly string[]).includes(name),
  )
  const content = contentList({ ...call, prompt: [prompt, ...commands].join(' ') })
  return jsonParts({ model: call.model, content, ...Object.fromEntries(rest) })
}

/**
 * The prompt with one hyphen instead of several, because each command begins with two. A command of a client could
 * change what the row fixes and what the job costs.
 */
function withoutCommands({ model, prompt }: SubmitCall): string {
  return READS_NO_COMMANDS.test(model) ? prompt : prompt.replace(/-{2,}/g, '-')
}

function commandOf(name: string, value: Members[string]): readonly string[] {
  return value === undefined || typeof value === 'object' ? [] : [`--${name.replace('_', '')} ${value}`]
}
