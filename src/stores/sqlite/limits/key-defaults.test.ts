import { describe } from 'bun:test'
import { keyDefaultsConform } from '../../../../test/conformance/key-defaults.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

describe('sqlite key defaults', () => keyDefaultsConform(sqlite))
