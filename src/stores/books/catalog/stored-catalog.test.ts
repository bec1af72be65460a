import { catalogConforms } from '../../../../test/conformance/catalog.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

catalogConforms(sqlite)
conformsOnPostgres(catalogConforms)
