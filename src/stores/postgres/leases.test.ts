import { leasesConform } from '../../../test/conformance/leases.ts'
import { conformsOnPostgres } from '../../../test/support/postgres/store-kind.ts'

conformsOnPostgres(leasesConform)
