import type { Config } from '../../config/config.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { RequestRecords, RequestRecordStore } from '../../gateway/ports/requests/request-records.ts'
import { noRequestRecords, RequestRecorder } from '../../gateway/requests/request-recorder.ts'
import { clientOptions, connections, type Connections } from '../../stores/postgres/database/database.ts'
import { openPostgresRecords, removeRequests } from '../../stores/postgres/request-records.ts'
import { openRequestStore } from '../../stores/sqlite/request-records/open-request-store.ts'
import { removeRequestFile } from '../../stores/sqlite/request-records/request-file.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import type { DataFolder } from '../data-folder.ts'
import { systemClock } from '../system-clock.ts'

/** How long the removal of records waits if a query reads them. */
const REMOVE_AGAIN_MS = 60_000

/** The records of requests, and their life in this process. */
type OpenRecords = {
  readonly records: RequestRecords
  /** Only a server does this. A command that reads the records deletes none. */
  readonly start: () => void
  readonly close: () => Promise<void>
}

/** The connections of a database, or the path of a file. */
type RecordsPlace = { readonly database: Connections } | { readonly path: string }

/**
 * Opens the records of requests, in the database of the settings or in a file of the data folder. The file or the
 * connection is opened when the first record is written or read.
 */
export function openRecords(
  config: Config,
  folder: Pick<DataFolder, 'requests'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): OpenRecords {
  const place: RecordsPlace =
    config.database === undefined
      ? { path: folder.requests }
      : { database: connections(clientOptions(config.database)) }
  if (config.requestRecordsMs === 0) return removedRecords(place, log)
  const store = openStore(config, place, log)
  const onProblem = (problem: string) => log.error('records of requests are being lost', { problem })
  const recorder = new RequestRecorder(
    { store, clock, onProblem },
    { refusalsPerMinute: config.refusalRecordsMax },
  )
  return { records: recorder, start: () => recorder.start(), close: () => recorder.close() }
}

/** Both take real time, whatever the clock of a test says. */
function openStore(
  { requestRecordsMs, requestRecordsMax, requestRecordsBytesMax }: Config,
  place: RecordsPlace,
  log: Log,
): RequestRecordStore {
  const bounds = { keptMs: requestRecordsMs, rowsMax: requestRecordsMax, bytesMax: requestRecordsBytesMax }
  if ('database' in place) return openPostgresRecords(place.database, { clock: systemClock, bounds })
  const { path } = place
  const onDamaged = (problem: string) =>
    log.error('the file of request records was damaged, so it was put aside', { path, problem })
  return openRequestStore({ path, bounds }, { clock: systemClock, onDamaged })
}

/** Records that are switched off. A start removes those that there are. */
function removedRecords(place: RecordsPlace, log: Log): OpenRecords {
  let isClosed = false
  let cancel = (): void => undefined
  const removeFrom = async (database: Connections): Promise<void> => {
    const isDone = await removeRequests(database).catch((error: unknown) => {
      log.error('the records of requests could not be removed', errorFields(error))
      return false
    })
    if (!isDone && !isClosed) cancel = systemClock.after(REMOVE_AGAIN_MS, () => void removeFrom(database))
  }
  return {
    records: noRequestRecords,
    start() {
      if ('database' in place) void removeFrom(place.database)
      else removeRequestFile(place.path)
    },
    close() {
      isClosed = true
      cancel()
      return Promise.resolve()
    },
  }
}
