import { encodeTerms } from '../../domain/limits/limits-row.ts'
import type { Terms } from '../../domain/limits/scope.ts'
import type { BufferedReply } from '../request-context.ts'
import { ELSEWHERE, readFields, termsField, wrongField } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'

/** What messages call the default limits of new keys. */
export const KEY_DEFAULTS = 'the defaults of new keys'

/** The default limits that the gateway gives new keys. */
export async function getKeyDefaults(_: AdminCall, { keyDefaults }: AdminPorts): Promise<BufferedReply> {
  return defaultsReply(await keyDefaults.of(undefined))
}

/** Changes the default limits of new keys. Repeating it changes nothing. */
export async function patchKeyDefaults(
  { request, actor }: AdminCall,
  { keyDefaults, clock }: AdminPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['limits', 'budgets'], ELSEWHERE)
  if (Object.keys(fields).length === 0)
    throw wrongField('limits', 'is missing; the body changes nothing without "limits" or "budgets"')
  const patch = termsField(fields, KEY_DEFAULTS)
  return defaultsReply(await keyDefaults.change(patch, { actor, atMs: clock.now() }))
}

function defaultsReply(terms: Terms): BufferedReply {
  return adminReply(encodeTerms(terms))
}
