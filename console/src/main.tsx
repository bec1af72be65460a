import { render } from 'preact'
import { App, loadPage } from './app.tsx'
import { readSession } from './session.ts'

// Both now, because the effects of components run only after the first frame.
void readSession()
loadPage(location.pathname)
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
