/**
 * An exact fraction, to check prices with arithmetic that shares nothing with the code under test. Neither part is
 * negative.
 */
export type Rational = { readonly numerator: bigint; readonly denominator: bigint }

export function rational(numerator: bigint | number, denominator: bigint | number = 1n): Rational {
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) }
}

export function sum(terms: readonly Rational[]): Rational {
  return terms.reduce(
    (total, term) => ({
      numerator: total.numerator * term.denominator + term.numerator * total.denominator,
      denominator: total.denominator * term.denominator,
    }),
    rational(0),
  )
}

export function product(factors: readonly Rational[]): Rational {
  return factors.reduce(
    (total, factor) => ({
      numerator: total.numerator * factor.numerator,
      denominator: total.denominator * factor.denominator,
    }),
    rational(1),
  )
}

/** The smallest integer that is not below the fraction. */
export function ceiling({ numerator, denominator }: Rational): bigint {
  const floor = numerator / denominator
  return floor * denominator === numerator ? floor : floor + 1n
}
