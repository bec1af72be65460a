import { GatewayError } from '../../domain/errors.ts'

const MEGABYTE = 1024 * 1024

/** For an input of more bytes than are allowed. */
export function fileTooLarge(param: string, bytesMax: number): GatewayError {
  const limit = `${bytesMax / MEGABYTE} MB`
  const message = `"${param}" has a file of more than ${limit}. Send a smaller one.`
  return new GatewayError('invalid_field', message, { param })
}
