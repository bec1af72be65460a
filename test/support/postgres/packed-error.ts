import { GatewayError } from '../../../src/domain/errors.ts'
import { UpstreamIdTakenError } from '../../../src/gateway/ports/media/jobs.ts'

/** What a call threw, as values that another process can throw again. A plain copy loses the class and the fields. */
export type PackedError =
  | { readonly name: string; readonly fields: readonly Field[] }
  | { readonly thrown: unknown }

type Field = { readonly name: string; readonly isEnumerable: boolean; readonly value: unknown }

/** The classes that callers of ports look for. An error of another one becomes an `Error` with the same fields. */
const classes: Readonly<Record<string, new (...given: never[]) => Error>> = {
  GatewayError,
  UpstreamIdTakenError,
}
const runtimeClasses: Readonly<Record<string, ErrorConstructor>> = { TypeError, RangeError }

/** The fields of every error that are worth keeping. They are not enumerable. */
const COMMON_FIELDS = ['message', 'stack'] as const

export function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { thrown: error }
  const field = (name: string, value: unknown, isEnumerable = false) => ({ name, isEnumerable, value })
  return {
    name: error.constructor.name,
    fields: [
      ...COMMON_FIELDS.map(name => field(name, error[name])),
      ...('cause' in error ? [field('cause', packError(error.cause))] : []),
      ...Object.entries(error).map(([name, value]) => field(name, withoutCause(value), true)),
    ],
  }
}

export function unpackError(packed: PackedError): unknown {
  if (!('fields' in packed)) return packed.thrown
  const base = runtimeClasses[packed.name] ?? Error
  // Without the constructor of the class, because the fields are known already.
  const error = Reflect.construct(base, [], classes[packed.name] ?? base)
  for (const { name, isEnumerable, value } of packed.fields)
    Object.defineProperty(error, name, {
      value: name === 'cause' ? unpackError(value as PackedError) : value,
      enumerable: isEnumerable,
      writable: true,
      configurable: true,
    })
  if (error instanceof GatewayError && 'cause' in error)
    Object.assign(error, { extras: { ...error.extras, cause: error.cause } })
  return error
}

/** A GatewayError has its cause in its extras too. It is put back from the field. */
function withoutCause(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('cause' in value)) return value
  const { cause: _, ...others } = value
  return others
}
