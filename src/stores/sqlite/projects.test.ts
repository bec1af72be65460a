import { describe } from 'bun:test'
import { projectsConform } from '../../../test/conformance/projects.ts'
import { sqlite } from '../../../test/support/test-store.ts'

describe('sqlite projects', () => projectsConform(sqlite))
