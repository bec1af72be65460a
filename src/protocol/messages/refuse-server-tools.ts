import { GatewayError } from '../../domain/errors.ts'
import { serverToolsOf } from '../native-messages/dialect.ts'

/**
 * Throws `invalid_field` for a request that lets the model use tools of the provider. The conversion to chat drops such
 * tools. A model that can have them on one upstream must not answer without them on another.
 */
export function refuseServerTools(body: Readonly<Record<string, unknown>>): void {
  const tools = serverToolsOf(body)
  if (tools === undefined) return
  const message = `The tool "${tools.name}" runs at the provider, and no upstream of this model that has it can be called now.`
  throw new GatewayError('invalid_field', message, { param: 'tools' })
}
