import type { Destination } from '../text/resolve-model.ts'

/**
 * One of the upstreams of the lowest order, each with the share that its weight has among them. `random` is at least 0 and
 * below 1. Undefined where there is none to choose from.
 */
export function chooseUpstream(
  destinations: readonly Destination[],
  random: () => number,
): Destination | undefined {
  const order = Math.min(...destinations.map(({ upstream }) => upstream.order))
  const group = destinations.filter(({ upstream }) => upstream.order === order)
  if (group.length < 2) return group[0]
  let left = random() * group.reduce((sum, { upstream }) => sum + upstream.weight, 0)
  for (const destination of group) {
    left -= destination.upstream.weight
    if (left < 0) return destination
  }
  // Only rounding comes here.
  return group.at(-1)
}
