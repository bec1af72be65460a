import { examine } from '../../gateway/admin/doctor.ts'
import { reply, type AdminCall, type AdminPorts, type Reply } from './call.ts'

/** What the gateway finds when it looks at itself: settings in force, store, catalog, providers. */
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
