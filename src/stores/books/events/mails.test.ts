import { describe } from 'bun:test'
import { mailConforms } from '../../../../test/conformance/mail.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

describe('sqlite mails', () => mailConforms(sqlite))
conformsOnPostgres(mailConforms)
