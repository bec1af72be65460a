import { jobsConform } from '../../../../test/conformance/jobs.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

jobsConform(sqlite)
