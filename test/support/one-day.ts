const DAY_MS = 86_400_000
/** More than a test of one day takes, even on a busy machine. */
const LAST_PART_MS = 60_000

/**
 * For a test that counts what happens on one day or in one month, in UTC: waits for the next day if the test could
 * still run then.
 */
export async function wholeDay(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs <= LAST_PART_MS) await Bun.sleep(leftMs)
}
