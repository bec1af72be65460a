import { keyDefaultsConform } from '../../../../test/conformance/key-defaults.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

keyDefaultsConform(sqlite)
conformsOnPostgres(keyDefaultsConform)
