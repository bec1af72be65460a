import type { Destination } from '../text/resolve-model.ts'

/**
 * Chooses one of the upstreams with the lowest order, at random by weight. `random` is at least 0 and below 1.
 * Undefined if there are no upstreams.
 */
export function chooseUpstream<Choice extends Pick<Destination, 'upstream'>>(
  destinations: readonly Choice[],
  random: () => number,
): Choice | undefined {
  const order = Math.min(...destinations.map(({ upstream }) => upstream.order))
  const group = destinations.filter(({ upstream }) => upstream.order === order)
  if (group.length < 2) return group[0]
  let left = random() * group.reduce((sum, { upstream }) => sum + upstream.weight, 0)
  for (const destination of group) {
    left -= destination.upstream.weight
    if (left < 0) return destination
  }
  // Reached only because of rounding.
  return group.at(-1)
}
