import { examine } from '../../gateway/admin/doctor.ts'
import { reply, type AdminCall, type AdminPorts, type Reply } from './call.ts'

/** The self-checks of the gateway: settings, store, catalog, moderator and providers. */
export async function getDoctor(_: AdminCall, ports: AdminPorts): Promise<Reply> {
  const checks = await examine(ports)
  const settings = ports.settings().map(({ name, value, default: standard, isSet }) => ({
    name,
    value,
    default: standard,
    is_set: isSet,
  }))
  return reply({ ok: checks.every(({ ok }) => ok), checks, settings })
}
