import {
  decodeKeyDefaults,
  encodeKeyDefaults,
  keyDefaultFields,
  WITHOUT_DEFAULTS,
  type NewKeyDefaults,
  type NewKeyDefaultsPatch,
} from '../../domain/accounts/key-defaults.ts'
import type { BufferedReply } from '../request-context.ts'
import { ELSEWHERE, readFields, refuseEmpty, valueOf } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'

/** The defaults that the gateway gives new keys. */
export async function getKeyDefaults(_: AdminCall, { keyDefaults }: AdminPorts): Promise<BufferedReply> {
  return defaultsReply(await keyDefaults.of(undefined))
}

/** Changes the defaults of new keys. Repeating it changes nothing. */
export async function patchKeyDefaults(
  { request, actor }: AdminCall,
  { keyDefaults, clock }: AdminPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, keyDefaultFields, ELSEWHERE)
  refuseEmpty(fields, keyDefaultFields)
  const patch = valueOf(decodeKeyDefaults(fields))
  return defaultsReply(await keyDefaults.change(patch, { actor, atMs: clock.now() }))
}

/** The defaults of the new keys of an account, in a body. Null removes all. */
export function keyDefaultsIn(value: unknown): NewKeyDefaultsPatch {
  return value === null ? WITHOUT_DEFAULTS : valueOf(decodeKeyDefaults(value, ['key_defaults']))
}

function defaultsReply(defaults: NewKeyDefaults): BufferedReply {
  return adminReply(encodeKeyDefaults(defaults))
}
