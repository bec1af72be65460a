import { usersConform } from '../../../../test/conformance/users.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

usersConform(sqlite)
conformsOnPostgres(usersConform)
