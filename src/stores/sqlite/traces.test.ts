import { describe } from 'bun:test'
import { tracesConform } from '../../../test/conformance/traces.ts'
import { sqlite } from '../../../test/support/test-store.ts'

describe('sqlite', () => tracesConform(sqlite))
