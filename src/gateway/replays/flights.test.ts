import { expect, test } from 'bun:test'
import { aFingerprint, differing } from '../../../test/conformance/replays.ts'
import { DisconnectSignal } from '../disconnect-signal.ts'
import type { Fingerprint } from '../ports/replays.ts'
import { InFlightRequest } from './in-flight-request.ts'
import { Flights } from './flights.ts'

const aFlight = (fingerprint: Fingerprint) =>
  new InFlightRequest(fingerprint, { client: { signal: new DisconnectSignal() }, trace: {} })

test('of thousands of flights, many of them in one bucket, each is found until it is removed', () => {
  const flights = new Flights()
  const fingerprints = Array.from({ length: 5000 }, (_, index) => {
    const fingerprint = aFingerprint(`${index}`)
    return index % 10 === 0 ? { ...fingerprint, digest: fingerprint.digest.with(0, 7) } : fingerprint
  })
  const all = fingerprints.map(aFlight)
  for (const flight of all) flights.add(flight)
  const isKept = (_: unknown, index: number) => index % 3 !== 0

  for (const [index, flight] of all.entries()) if (!isKept(flight, index)) flights.remove(flight)

  const found = fingerprints.map(fingerprint => flights.find(fingerprint))
  expect(found.map(flight => flight !== undefined)).toEqual(all.map(isKept))
  expect(found.filter(flight => flight !== undefined)).toEqual(all.filter(isKept))
})

test('a flight is not found for another key, another route or a body that differs in any part of its digest', () => {
  const flights = new Flights()
  const flown = aFingerprint('a')
  flights.add(aFlight(flown))

  for (const other of differing(flown)) expect(flights.find(other)).toBeUndefined()
  expect(flights.find({ ...flown, digest: flown.digest.slice() })).toBeDefined()
})

test('a later flight of a fingerprint is found in the place of an earlier one, which may end before it', () => {
  const flights = new Flights()
  const fingerprint = aFingerprint('a')
  const [earlier, later] = [aFlight(fingerprint), aFlight(fingerprint)]
  flights.add(earlier)
  flights.add(later)

  flights.remove(earlier)
  flights.remove(earlier)

  expect(flights.find(fingerprint)).toBe(later)
  flights.remove(later)
  expect(flights.find(fingerprint)).toBeUndefined()
})
