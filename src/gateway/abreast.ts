/**
 * Awaited where one stage of a request ends and another begins: the requests of a turn of the event loop all come to that place
 * before the first of them goes on, and each stage runs for all of them while its code is in the processor's caches
 * (docs/decisions/cohorts.md). A request that is alone waits for nobody.
 */
export const abreast: Promise<void> = Promise.resolve()
