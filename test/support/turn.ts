export { turn, turns } from '../../src/http1/testing/turn.ts'
