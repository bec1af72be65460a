import { render } from 'preact'
import { App, loadPage } from './app.tsx'
// oxlint-disable-next-line import/no-unassigned-import -- it only has to be in this script.
import './parts/shared.ts'
import { readSession } from './session.ts'

/** Until then, nothing is drawn: a page that is drawn twice is later than one that is drawn once. */
const FIRST_DRAWING_MS_MAX = 1000

async function start(place: HTMLElement): Promise<void> {
  // Both at once. Without this, the effects of components would begin them, one after the other.
  const ready = Promise.all([readSession(), loadPage(location.pathname)])
  await Promise.race([ready, new Promise(resolve => setTimeout(resolve, FIRST_DRAWING_MS_MAX))])
  render(<App />, place)
}

const place = document.getElementById('app')
// Not awaited here: a script that waits at its top becomes several chunks.
if (place !== null) void start(place)
