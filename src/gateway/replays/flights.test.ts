import { expect, test } from 'bun:test'
import { Flight } from './flight.ts'
import { Flights } from './flights.ts'

const aFlight = (fingerprint: string) =>
  new Flight(fingerprint, { client: { signal: new AbortController().signal }, trace: {} })

test('of thousands of flights, many of them in one bucket, each is found until it is removed', () => {
  const flights = new Flights()
  const all = Array.from({ length: 5000 }, (_, index) =>
    aFlight(index % 2 === 0 ? `same beginning ${index}` : `${index}`),
  )
  for (const flight of all) flights.add(flight)
  const isKept = (_: unknown, index: number) => index % 3 !== 0

  for (const [index, flight] of all.entries()) if (!isKept(flight, index)) flights.remove(flight)

  const found = all.map(({ fingerprint }) => flights.find(fingerprint))
  expect(found.map(flight => flight !== undefined)).toEqual(all.map(isKept))
  expect(found.filter(flight => flight !== undefined)).toEqual(all.filter(isKept))
})

test('a later flight of a fingerprint is found in the place of an earlier one, which may end before it', () => {
  const flights = new Flights()
  const [earlier, later] = [aFlight('a'), aFlight('a')]
  flights.add(earlier)
  flights.add(later)

  flights.remove(earlier)
  flights.remove(earlier)

  expect(flights.find('a')).toBe(later)
  flights.remove(later)
  expect(flights.find('a')).toBeUndefined()
})
