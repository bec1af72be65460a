import { ledgerConforms } from '../../../test/conformance/ledger.ts'
import { sqlite } from '../../../test/support/test-store.ts'

ledgerConforms(sqlite)
