import type { TextTariff } from './tariff.ts'

/** Has something computed once for each tariff. A tariff never changes: an edit of the catalog makes another. */
export function perTariff<Computed extends object>(
  compute: (tariff: TextTariff) => Computed,
): (tariff: TextTariff) => Computed {
  const known = new WeakMap<TextTariff, Computed>()
  return tariff => {
    const found = known.get(tariff)
    if (found !== undefined) return found
    const computed = compute(tariff)
    known.set(tariff, computed)
    return computed
  }
}
