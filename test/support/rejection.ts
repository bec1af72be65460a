export { rejection } from '../../src/http1/testing/rejection.ts'
