import {
  decodeKeyDefaults,
  encodeKeyDefaults,
  keyDefaultFields,
  WITHOUT_DEFAULTS,
  type NewKeyDefaultsPatch,
} from '../../../domain/accounts/key-defaults.ts'
import type { BufferedReply } from '../../request-context.ts'
import { readFields, refuseEmpty, valueOf } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { ELSEWHERE, warningsOf } from './terms.ts'

/** The defaults that the gateway gives new keys. */
export async function getKeyDefaults(_: AdminCall, { keyDefaults }: AccountPorts): Promise<BufferedReply> {
  return adminReply(encodeKeyDefaults(await keyDefaults.of(undefined)))
}

/** Changes the defaults of new keys. Repeating it changes nothing. */
export async function patchKeyDefaults(
  { request, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, keyDefaultFields, ELSEWHERE)
  refuseEmpty(fields, keyDefaultFields)
  const patch = valueOf(decodeKeyDefaults(fields))
  const changed = await ports.keyDefaults.change(patch, { actor, atMs: ports.clock.now() })
  return adminReply({ ...encodeKeyDefaults(changed), ...warningsOf({ settings: patch.settings }, ports) })
}

/** The defaults of the new keys of an account, in a body. Null removes all. */
export function keyDefaultsIn(value: unknown): NewKeyDefaultsPatch {
  return value === null ? WITHOUT_DEFAULTS : valueOf(decodeKeyDefaults(value, ['key_defaults']))
}
