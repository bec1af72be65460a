import { ledgerConforms } from '../../../../test/conformance/ledger.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
conformsOnPostgres(ledgerConforms)
