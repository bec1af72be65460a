/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The smallest value that at least `share` (0 to 1) of an ascending list does not exceed. */
export function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)]!
}

/** The slope of the least-squares line. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return covariance / variance
}
