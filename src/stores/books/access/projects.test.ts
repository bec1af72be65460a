import { projectsConform } from '../../../../test/conformance/projects.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { sqlite } from '../../../../test/support/test-store.ts'

projectsConform(sqlite)
conformsOnPostgres(projectsConform)
