/**
 * Serves the simulated Kling API in real time, on a port of this machine that it prints. Its keys are `access` and
 * `secret`. What the next creates and polls are treated like is set by `POST /__sim/kling/script {"submits":
 * ["accept_reset"], "polls": ["status_429"]}`; `GET /__sim/kling/ledger` shows its books.
 */
import { systemClock } from '../../../src/app/system-clock.ts'
import { klingDialect } from './media/kling.ts'
import { MediaSimulator } from './media/media-simulator.ts'
import { simulatedServer } from './simulated-server.ts'

let url = ''
const keys = { accessKey: 'access', secretKey: 'secret' }
const dialect = klingDialect({ keys, nowMs: () => systemClock.now() })
const simulator = new MediaSimulator(dialect, { clock: systemClock, filesUrl: () => `${url}/files` })
url = simulatedServer(request => simulator.handle(request), systemClock).url
console.log(`The simulated Kling API is at ${url}`)
