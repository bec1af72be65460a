import { inputKinds, type ChatOptions, type InputKind } from '../model.ts'
import { checkOneOf, flag, list, oneOf } from './fields.ts'
import { definedOnly, fieldOf, reportField, type Row } from './row.ts'

export const messagesStreams = ['synthetic', 'live'] as const
export const modelStreamUsages = ['ask', 'client'] as const
export const unsupportedInputs = ['refuse', 'note'] as const

/** The fields of each preset, as a row has them. */
const presets = {
  'coding-agent': {
    messages_stream: 'live',
    stream_idle_timeout_s: 600,
    stream_usage: 'ask',
    heartbeats: true,
  },
} as const satisfies Record<NonNullable<ChatOptions['preset']>, Readonly<Record<string, unknown>>>

export const presetNames = Object.keys(presets) as (keyof typeof presets)[]

/** What a row with a preset writes for a field whose default it has, to keep that default. */
const explicitDefaults: Readonly<Record<string, unknown>> = {
  messages_stream: 'synthetic',
  stream_usage: 'client',
  heartbeats: false,
}

/** The fields of a chat row that say how its requests and streams are handled. */
export const chatOptionFields = [
  'preset',
  'inputs',
  'unsupported_inputs',
  'messages_stream',
  'stream_usage',
  'heartbeats',
]

/** The row with the fields that its preset stands for. The fields of the row itself win. */
export function withPreset(row: Row): Row {
  const preset = fieldOf(row, 'preset')
  const name = presetNames.find(known => known === preset)
  if (name === undefined) return row
  const values: Record<string, unknown> = { ...presets[name] }
  for (const [field, value] of Object.entries(row.values)) if (value !== null) values[field] = value
  return { ...row, values }
}

/** The fields of a row without those that its preset stands for. `withPreset` adds them again. */
export function withoutPreset(
  fields: Readonly<Record<string, unknown>>,
  preset: ChatOptions['preset'],
): Record<string, unknown> {
  if (preset === undefined) return fields
  const rest = { ...fields }
  for (const [field, value] of Object.entries(presets[preset])) {
    if (rest[field] === value) delete rest[field]
    else rest[field] ??= explicitDefaults[field]
  }
  return rest
}

/** Reads the options of a chat row that `withPreset` has completed. */
export function readChatOptions(row: Row): ChatOptions {
  const inputs = readInputs(row)
  const unsupported = oneOf(row, 'unsupported_inputs', unsupportedInputs)
  if (unsupported !== undefined && fieldOf(row, 'inputs') === undefined) {
    const remedy = 'list the inputs of the model, or leave it out'
    reportField(row, 'unsupported_inputs', { message: 'is only used with inputs', remedy })
  }
  return definedOnly({
    preset: oneOf(row, 'preset', presetNames),
    inputs,
    unsupportedInputs: unsupported === 'note' ? unsupported : undefined,
    messagesStream: oneOf(row, 'messages_stream', messagesStreams) === 'live' ? ('live' as const) : undefined,
    streamUsage: oneOf(row, 'stream_usage', modelStreamUsages),
    heartbeats: flag(row, 'heartbeats') === true ? (true as const) : undefined,
  })
}

/** The fields of the options. Omits defaults. */
export function writeChatOptions(options: ChatOptions): Record<string, unknown> {
  return definedOnly({
    preset: options.preset,
    inputs: options.inputs,
    unsupported_inputs: options.unsupportedInputs,
    messages_stream: options.messagesStream,
    stream_usage: options.streamUsage,
    heartbeats: options.heartbeats,
  })
}

/** The kinds of input that a model reads. Undefined if the row does not say. */
function readInputs(row: Row): readonly InputKind[] | undefined {
  const remedy = 'list the kinds of input that the model reads, such as [text, image]'
  const inputs = list(row, 'inputs', { max: inputKinds.length, remedy }, (value, place) =>
    checkOneOf(value, inputKinds, place),
  )
  if (inputs !== undefined && inputs.length > 0 && !inputs.includes('text'))
    reportField(row, 'inputs', { message: 'lacks text', remedy: 'add text, because every request has it' })
  return inputs
}
