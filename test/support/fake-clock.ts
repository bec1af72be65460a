export { fakeClock, type FakeClock } from '../../src/http1/testing/fake-clock.ts'
