export { PROCESS_START_MS_MAX, until } from '../../src/http1/testing/until.ts'
