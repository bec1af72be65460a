import { describe } from 'bun:test'
import { limitsConform } from '../../../../test/conformance/limits.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

describe('sqlite limits', () => limitsConform(sqlite))
