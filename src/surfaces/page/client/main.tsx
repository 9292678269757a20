/** The start of the page. */

import { render } from 'preact'
import { App, begin, Outside } from './app.tsx'
import { takeToken } from './server.ts'

const place = document.getElementById('page')!
place.replaceChildren()
if (takeToken() === null) render(<Outside />, place)
else {
  begin()
  render(<App />, place)
}
