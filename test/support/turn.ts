export { turn } from '../../src/http1/testing/turn.ts'
