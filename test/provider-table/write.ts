/** Writes `docs/providers.md` from what the adapters do in front of the simulators. */
import { writeFileSync } from 'node:fs'
import { PAGE_PATH, providersPage } from './page.ts'

writeFileSync(PAGE_PATH, await providersPage())
