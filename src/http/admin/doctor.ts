import { examine } from '../../gateway/admin/doctor.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'

/** The self-checks of the gateway: settings, store, catalog, moderator and providers. */
export async function getDoctor(_: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const checks = await examine(ports)
  const settings = ports.describedSettings().map(({ name, value, default: standard, isSet }) => ({
    name,
    value,
    default: standard,
    is_set: isSet,
  }))
  const rows = checks.map(({ isWarning, ...check }) =>
    isWarning === undefined ? check : { ...check, is_warning: isWarning },
  )
  return adminReply({ ok: checks.every(({ ok }) => ok), checks: rows, settings })
}
