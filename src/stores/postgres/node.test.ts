import { idsConform } from '../../../test/conformance/ids.ts'
import { conformsOnPostgres } from '../../../test/support/postgres/store-kind.ts'

conformsOnPostgres(idsConform)
