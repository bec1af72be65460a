import type { Config } from '../config/config.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { RequestRecords } from '../gateway/ports/request-records.ts'
import { noRequestRecords, RequestRecorder } from '../gateway/requests/request-recorder.ts'
import { openRequestStore } from '../stores/sqlite/request-records/open-request-store.ts'
import { removeRequestFile } from '../stores/sqlite/request-records/request-file.ts'
import type { Log } from '../telemetry/log.ts'
import type { DataFolder } from './data-folder.ts'
import { systemClock } from './system-clock.ts'

/** The records of requests, and their life in this process. */
type OpenRecords = {
  readonly records: RequestRecords
  /** Only a server does this. A command that reads the records deletes none. */
  readonly start: () => void
  readonly close: () => Promise<void>
}

/**
 * Opens the records of a data folder. Their file and its worker are opened when the first record is written or read.
 */
export function openRecords(
  { requestRecordsMs, requestRecordsMax, requestRecordsBytesMax, refusalRecordsMax }: Config,
  { requests: path }: Pick<DataFolder, 'requests'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): OpenRecords {
  if (requestRecordsMs === 0) {
    const start = () => removeRequestFile(path)
    return { records: noRequestRecords, start, close: () => Promise.resolve() }
  }
  const bounds = { keptMs: requestRecordsMs, rowsMax: requestRecordsMax, bytesMax: requestRecordsBytesMax }
  const store = openRequestStore(
    { path, bounds },
    {
      // The worker takes real time, whatever the clock of a test says.
      clock: systemClock,
      onDamaged: problem =>
        log.error('the file of request records was damaged, so it was put aside', { path, problem }),
    },
  )
  const onProblem = (problem: string) => log.error('records of requests are being lost', { problem })
  const recorder = new RequestRecorder({ store, clock, onProblem }, { refusalsPerMinute: refusalRecordsMax })
  return { records: recorder, start: () => recorder.start(), close: () => recorder.close() }
}
